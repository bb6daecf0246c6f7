//! Fuzzing: mutations of input from clients, users, other nodes and disks, by the thousand here and
//! by the million with `TETRAD_FUZZ_CASES` or cargo-fuzz (`fuzz/`). Nothing may panic; the checks,
//! which are parts of the program, assert further properties.

mod cosmos;
mod explorer;
mod nodes;
mod rpc;
#[path = "../../../fuzz/targets/support.rs"]
mod small_chain;

use std::{cell::Cell, fs, path::Path};

use alloy_primitives::hex;
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};

/// One edit: its position, its kind, and a byte.
type Edit = (u16, u8, u8);

/// Pieces on which parsers are likely to fail.
const PIECES: [&[u8]; 24] = [
    b"0x",
    b"\"0x\"",
    b"null",
    b"{}",
    b"[]",
    b"[[[[",
    b"]}",
    b"\\",
    b"\\u0000",
    b"\"",
    b"-1",
    b"1e999",
    b"0xffffffffffffffff",
    b"18446744073709551616",
    b"\xff",
    b"\xef\xbf\xbd",
    b"0xef0100",
    b"latest",
    b"{{}}",
    b",",
    b":",
    b"0x00",
    b"true",
    b"\n",
];

fn mutated(seed: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for &(at, kind, value) in edits {
        let at = usize::from(at) % (bytes.len() + 1);
        let end = (at + usize::from(value % 16)).min(bytes.len());
        match kind % 7 {
            0 if at < bytes.len() => bytes[at] ^= value.max(1),
            1 => bytes.insert(at, value),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let copied = bytes[at..end].to_vec();
                bytes.splice(at..at, copied);
            }
            4 => drop(bytes.splice(
                at..end,
                PIECES[usize::from(value) % PIECES.len()].iter().copied(),
            )),
            5 => bytes.truncate(at.max(1)),
            _ => bytes
                .splice(
                    at..at,
                    PIECES[usize::from(value) % PIECES.len()].iter().copied(),
                )
                .for_each(drop),
        }
    }
    bytes
}

/// Mutates each of `seeds` in turn and hands it to `check`, which panics if something is wrong, and
/// returns how much it accepted. Returns the sum. With `TETRAD_FUZZ_CORPUS` the seeds are written
/// below that folder, for the target of this name.
fn fuzz(target: &str, usual: u32, seeds: &[Vec<u8>], check: impl Fn(&[u8]) -> usize) -> usize {
    if let Some(corpus) = std::env::var_os("TETRAD_FUZZ_CORPUS") {
        let folder = Path::new(&corpus).join(target);
        fs::create_dir_all(&folder).unwrap();
        for (index, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("{index:04}")), seed).unwrap();
        }
    }

    let cases = std::env::var("TETRAD_FUZZ_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(usual);
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let strategy = (
        any::<prop::sample::Index>(),
        prop::collection::vec(any::<Edit>(), 0..8),
    );

    let accepted = Cell::new(0);
    let run = TestRunner::new(config).run(&strategy, |(seed, edits)| {
        let input = mutated(seed.get::<Vec<u8>>(seeds), &edits);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&input)));
        let count = caught.map_err(|_| TestCaseError::fail(hex::encode(&input)))?;
        accepted.set(accepted.get() + count);
        Ok(())
    });

    run.unwrap_or_else(|failure| panic!("{failure}"));
    accepted.get()
}
