//! The tracer of hashed data: geth's `keccak256PreimageTracer`.

use std::collections::BTreeMap;

use alloy_primitives::{B256, keccak256};
use revm::{
    Inspector,
    bytecode::opcode,
    interpreter::{
        Interpreter,
        interpreter_types::{Jumps, MemoryTr},
    },
};
use tetrad_evm::{EvmContext, Recorder};

use crate::rpc::json::{JsonWriter, Object};

/// The most zero bytes after the end of the memory that are taken for hashed data, as in geth.
const MAX_PADDING: usize = 1 << 20;
/// The size of an entry of the result without the data, in bytes.
const ENTRY: usize = 80;

/// Collects what `KECCAK256` hashes.
#[derive(Debug, Default)]
pub(super) struct PreimageTracer {
    preimages: BTreeMap<B256, Vec<u8>>,
    /// The length of the result.
    bytes: usize,
}

impl PreimageTracer {
    /// The result: the data by its hash.
    pub(super) fn finish(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);
        for (hash, preimage) in &self.preimages {
            let out = object.name(&hash.to_string());
            out.extend_from_slice(
                format!("\"{}\"", alloy_primitives::hex::encode_prefixed(preimage)).as_bytes(),
            );
        }
        object.end();
    }
}

impl Recorder for PreimageTracer {
    fn copied(&self) -> usize {
        self.bytes
    }
}

impl Inspector<EvmContext<'_>> for PreimageTracer {
    fn step(&mut self, interpreter: &mut Interpreter, _: &mut EvmContext<'_>) {
        if interpreter.bytecode.opcode() != opcode::KECCAK256 {
            return;
        }
        let [.., length, offset] = interpreter.stack.data().as_slice() else {
            return;
        };
        let (Ok(offset), Ok(length)) = (usize::try_from(*offset), usize::try_from(*length)) else {
            return;
        };

        let size = interpreter.memory.size();
        let Some(end) = offset
            .checked_add(length)
            .filter(|end| *end <= size.saturating_add(MAX_PADDING))
        else {
            return;
        };

        // The instruction has not run yet: it extends the memory with zeros, which are added here.
        let held = offset.min(size)..end.min(size);
        let mut preimage = interpreter.memory.slice(held).to_vec();
        preimage.resize(length, 0);

        let hash = keccak256(&preimage);
        if !self.preimages.contains_key(&hash) {
            self.bytes += ENTRY + 2 * preimage.len();
            self.preimages.insert(hash, preimage);
        }
    }
}
