//! The `tetrad` program.

use std::{hint, thread, time::Duration};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Milliseconds after which memory that is not used any more goes back to the system.
const PURGE_DELAY: std::ffi::c_long = 10;
/// The option for it, which the bindings do not name (`mimalloc.h`).
const PURGE_DELAY_OPTION: libmimalloc_sys::mi_option_t = 15;

/// Interval at which a thread has it do so.
const RETURN_INTERVAL: Duration = Duration::from_millis(200);

fn main() -> std::process::ExitCode {
    return_memory_early();
    // Without this thread, memory is returned later.
    let _ = thread::Builder::new().name("memory".to_owned()).spawn(return_memory_while_idle);
    tetrad::run(std::env::args_os())
}

/// Has the allocator return memory earlier than after a second. `MIMALLOC_PURGE_DELAY` in the environment has precedence.
#[allow(unsafe_code, reason = "the allocator's options have no safe interface")]
fn return_memory_early() {
    // SAFETY: this stores a number in the allocator's table of options.
    unsafe { libmimalloc_sys::mi_option_set_default(PURGE_DELAY_OPTION, PURGE_DELAY) };
}

/// Has the allocator return what is due of its arenas, which all threads share. By itself it returns any only when a thread next
/// needs some, so that a node that had much to do would keep several times as much as it uses.
#[allow(unsafe_code, reason = "the allocator has no safe interface for this")]
fn return_memory_while_idle() {
    // The allocator knows a thread from its first allocation on, and asks nothing of others.
    drop(hint::black_box(Box::new(0_u8)));
    loop {
        thread::sleep(RETURN_INTERVAL);
        // SAFETY: any thread may ask for this at any time.
        unsafe { libmimalloc_sys::mi_collect(false) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(unsafe_code, reason = "the allocator's options have no safe interface")]
    fn purge_delay() -> std::ffi::c_long {
        // SAFETY: this reads a number from the allocator's table of options.
        unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY_OPTION) }
    }

    #[test]
    fn the_allocator_returns_memory_earlier_than_it_would() {
        // An update of the allocator may number its options differently.
        assert_eq!(purge_delay(), 1_000, "the default of this option");
        return_memory_early();
        assert_eq!(purge_delay(), PURGE_DELAY);
    }
}
