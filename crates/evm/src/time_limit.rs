//! Time limits of executions.

/// Jumps between two checks.
const JUMPS_BETWEEN_CHECKS: u32 = 1 << 12;
/// The error with which a stopped execution ends. revm passes errors of instructions and of
/// precompiles on as text.
pub(super) const STOPPED: &str = "execution stopped";

/// Reports whether an execution has no time left, in all or for a long step.
pub type OutOfTime<'a> = &'a (dyn Fn() -> bool + Send + Sync);

/// The time limit of an execution.
#[derive(Clone, Copy)]
pub struct TimeLimit<'a> {
    out_of_time: OutOfTime<'a>,
    refuses_long: OutOfTime<'a>,
    jumps: u32,
}

impl<'a> TimeLimit<'a> {
    /// Calls `out_of_time` from time to time, and `refuses_long` before each precompile call that
    /// takes milliseconds and cannot be interrupted.
    pub fn new(out_of_time: OutOfTime<'a>, refuses_long: OutOfTime<'a>) -> Self {
        Self {
            out_of_time,
            refuses_long,
            jumps: 0,
        }
    }

    /// Whether the execution has to end before a long precompile call.
    pub(super) fn refuses_long(&self) -> bool {
        (self.out_of_time)() || (self.refuses_long)()
    }

    /// Whether the time limit is exceeded.
    pub(super) fn has_ended(&self) -> bool {
        (self.out_of_time)()
    }

    /// Counts a jump, and reports whether the time limit is exceeded. Most jumps do not check.
    pub(super) fn ends_at_jump(&mut self) -> bool {
        self.jumps += 1;
        if self.jumps < JUMPS_BETWEEN_CHECKS {
            return false;
        }
        self.jumps = 0;
        (self.out_of_time)()
    }
}
