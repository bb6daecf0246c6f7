//! The `tetrad` program.

use std::{fs, hint, thread, time::Duration};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Interval at which a thread has the allocator return memory to the system.
const RETURN_INTERVAL: Duration = Duration::from_millis(20);
/// Growth of the process, in kilobytes, with which unused memory is returned at once, not only what was unused for a second.
const GROWTH: u64 = 32 * 1_024;

fn main() -> std::process::ExitCode {
    // Without this thread, memory is returned later.
    let _ = thread::Builder::new().name("memory".to_owned()).spawn(return_memory);
    tetrad::run(std::env::args_os())
}

/// Has the allocator return unused memory of its arenas, which all threads share. By itself it returns only what was unused
/// for a second, and only when a thread next needs some: a node that had much to do would keep several times as much as it
/// uses. All of it at once would be too much: answers of several megabytes that follow each other use the same memory.
#[allow(unsafe_code, reason = "the allocator has no safe interface for this")]
fn return_memory() {
    // The allocator knows a thread from its first allocation on, and asks nothing of others.
    drop(hint::black_box(Box::new(0_u8)));
    let mut least = resident_kilobytes();
    loop {
        thread::sleep(RETURN_INTERVAL);
        let resident = resident_kilobytes();
        let at_once = resident > least + GROWTH;
        // SAFETY: any thread may ask for this at any time.
        unsafe { libmimalloc_sys::mi_collect(at_once) };
        least = if at_once { resident_kilobytes() } else { least.min(resident) };
    }
}

/// Resident memory of the process; zero where the system does not tell.
fn resident_kilobytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|value| value.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
