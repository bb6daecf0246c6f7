//! The data that inspectors record, so that [`Watch`](super::Watch) can count it before it fills
//! the memory.

use alloy_primitives::Log;
use revm::{
    bytecode::opcode,
    inspector::NoOpInspector,
    interpreter::{Interpreter, interpreter_types::Jumps},
};
use revm_inspectors::{
    access_list::AccessListInspector,
    otterscan::InternalOperationsInspector,
    tracing::{DebugInspector, StackSnapshotType, TracingInspector, TracingInspectorConfig},
};

use super::LogCollector;

/// The approximate size of one call, in memory or in a response, without its data.
const CALL: usize = 1 << 10;
/// The approximate size of one log, and of one of its topics.
const LOG: usize = 256;
const TOPIC: usize = 70;
/// The approximate size of one step, and of one word of its stack.
const STEP: usize = 256;
const WORD: usize = 32;
/// Gas of hashing one word.
const KECCAK_WORD: u64 = 6;

/// The data an inspector records.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordedData {
    /// Every call.
    pub calls: bool,
    /// Inputs of calls.
    pub inputs: bool,
    /// Outputs of calls.
    pub outputs: bool,
    /// Event logs.
    pub logs: bool,
    /// Every step.
    pub steps: bool,
    /// The stack before every step, and inputs of hashes.
    pub stacks: bool,
}

/// An inspector that reports what it records.
pub trait Recorder {
    /// The kinds of data that it records.
    fn records(&self) -> RecordedData {
        RecordedData::default()
    }

    /// Bytes that it holds in addition.
    fn copied(&self) -> usize {
        0
    }
}

impl RecordedData {
    /// Returns the data a tracer with this configuration records.
    fn of(config: &TracingInspectorConfig) -> Self {
        Self {
            calls: true,
            inputs: config.record_inputs,
            outputs: true,
            logs: config.record_logs,
            steps: config.record_steps,
            stacks: config.record_steps
                && matches!(config.record_stack_snapshots, StackSnapshotType::Full),
        }
    }

    /// The size of a call in bytes. Data counts twice, as it becomes hex.
    pub(super) fn of_call(self, depth: usize, input: usize) -> usize {
        let place = if self.calls {
            CALL + depth * size_of::<usize>()
        } else {
            0
        };
        place + if self.inputs { 2 * input } else { 0 }
    }

    /// The size of a call's output in bytes.
    pub(super) fn of_output(self, output: usize) -> usize {
        if self.outputs { 2 * output } else { 0 }
    }

    /// The size of a log in bytes.
    pub(super) fn of_log(self, log: &Log) -> usize {
        if self.logs {
            LOG + TOPIC * log.topics().len() + 2 * log.data.data.len()
        } else {
            0
        }
    }

    /// The size of the next step in bytes.
    pub(super) fn of_step(self, interpreter: &Interpreter) -> usize {
        if !self.steps {
            return 0;
        }

        let stack = interpreter.stack.data();
        let hashed = match stack.as_slice() {
            [.., length, _]
                if self.stacks && interpreter.bytecode.opcode() == opcode::KECCAK256 =>
            {
                // The gas left bounds the length that can be hashed.
                let affordable =
                    (interpreter.gas.remaining() / KECCAK_WORD).saturating_mul(WORD as u64);
                usize::try_from(*length)
                    .unwrap_or(usize::MAX)
                    .min(affordable as usize)
            }
            _ => 0,
        };

        let words = if self.stacks { stack.len() } else { 0 };
        hashed.saturating_mul(2).saturating_add(STEP + WORD * words)
    }
}

impl Recorder for TracingInspector {
    fn records(&self) -> RecordedData {
        RecordedData::of(self.config())
    }

    fn copied(&self) -> usize {
        // Memory is recorded with steps only. Inputs are counted with their calls.
        if self.config().record_steps {
            self.recorded_bytes()
        } else {
            0
        }
    }
}

/// Two inspectors at once, of which the second records nothing but what it copies.
impl<R: Recorder> Recorder for (TracingInspector, R) {
    fn records(&self) -> RecordedData {
        self.0.records()
    }

    fn copied(&self) -> usize {
        self.0.copied() + self.1.copied()
    }
}

impl Recorder for DebugInspector {
    fn records(&self) -> RecordedData {
        match self {
            Self::Noop(_) | Self::StateGasTracer(_) => RecordedData::default(),
            // Not used: JavaScript runs in a process of its own, whose memory is limited.
            #[cfg(feature = "js-tracer")]
            Self::Js(_) => RecordedData::default(),
            // Not used either: the tracers of calls and accounts have a recorder of their own.
            Self::FourByte(_) | Self::Mux(..) => RecordedData::default(),
            Self::CallTracer(tracer, _)
            | Self::PreStateTracer(tracer, _)
            | Self::FlatCallTracer(tracer)
            | Self::Erc7562Tracer(tracer, _)
            | Self::Default(tracer, _) => tracer.records(),
        }
    }

    fn copied(&self) -> usize {
        match self {
            Self::Erc7562Tracer(tracer, _) | Self::Default(tracer, _) => tracer.copied(),
            _ => 0,
        }
    }
}

impl Recorder for LogCollector {
    fn records(&self) -> RecordedData {
        RecordedData {
            logs: true,
            ..RecordedData::default()
        }
    }
}

/// Gas bounds the transfers and creations of a transaction.
impl Recorder for InternalOperationsInspector {}

/// Gas bounds the accounts and slots that a transaction can touch.
impl Recorder for AccessListInspector {}

impl Recorder for NoOpInspector {}
