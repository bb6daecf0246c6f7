//! The `tetrad` program.
//!
//! The program returns unused memory to the system. By itself the allocator does so only when a
//! thread needs or frees some, and a node that was attacked would occupy several times what it
//! uses. Returning all of it each time would cost long responses that follow each other a third of
//! their time.

use std::{fs::File, hint, io::Read, thread, time::Duration};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Interval at which a thread looks at the memory of the process.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// Number of looks after which the allocator returns what is due.
const LOOKS_PER_RETURN: u64 = 10;
/// Growth of the process, in pages, after which it returns all that is unused: 32 MiB where pages
/// have 4 KiB.
const GROWTH_PAGES: u64 = 8_192;

fn main() -> std::process::ExitCode {
    // Without this thread, memory is returned later.
    let _ = thread::Builder::new()
        .name("memory".to_owned())
        .spawn(return_memory);
    tetrad::run(std::env::args_os())
}

/// Has the allocator return unused memory of its arenas, which all threads share. By itself it does
/// so a second after some was freed, and only when a thread next needs or frees some: a node that
/// had much to do would keep several times as much as it uses. Not all is returned each time, since
/// long answers that follow each other use the same memory.
#[allow(unsafe_code, reason = "the allocator has no safe interface for this")]
fn return_memory() {
    // The allocator knows a thread from its first allocation on, and asks nothing of others.
    drop(hint::black_box(Box::new(0_u8)));

    let mut least = u64::MAX;
    for look in 1_u64.. {
        thread::sleep(LOOK_INTERVAL);
        let resident = resident_pages();
        let at_once =
            resident.is_some_and(|resident| resident > least.saturating_add(GROWTH_PAGES));
        if at_once || look.is_multiple_of(LOOKS_PER_RETURN) {
            // SAFETY: any thread may ask for this at any time.
            unsafe { libmimalloc_sys::mi_collect(at_once) };
        }

        let kept = if at_once {
            resident_pages()
        } else {
            resident.map(|resident| least.min(resident))
        };
        least = kept.unwrap_or(least);
    }
}

/// Resident memory of the process in pages; `None` if the system does not report it.
fn resident_pages() -> Option<u64> {
    // The file reports no size, so reading it to its end would take several reads.
    let mut numbers = [0; 256];
    let length = File::open("/proc/self/statm")
        .ok()?
        .read(&mut numbers)
        .ok()?;
    std::str::from_utf8(&numbers[..length])
        .ok()?
        .split(' ')
        .nth(1)?
        .parse()
        .ok()
}
