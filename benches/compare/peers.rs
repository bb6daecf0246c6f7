//! The nodes that are compared, and their command lines.

use std::{path::Path, sync::OnceLock};

/// The path of tetrad's binary, if it is not the one that cargo built.
pub(crate) static BINARY: OnceLock<String> = OnceLock::new();

/// The path of the binary of another build of tetrad, such as the one before a change, which runs
/// in turns with tetrad.
pub(crate) static AGAINST: OnceLock<String> = OnceLock::new();

/// Name of the other build in the tables.
pub(crate) const OTHER: &str = "other build";

/// A node to measure.
#[derive(Clone)]
pub(crate) struct Peer {
    /// Name in the tables.
    pub name: &'static str,
    /// The program and its arguments, with `{port}` for the port.
    pub command: Vec<String>,
    /// Whether blocks are mined by `evm_mine` only.
    pub manual: bool,
}

fn words(program: &str, arguments: &str) -> Vec<String> {
    std::iter::once(program)
        .chain(arguments.split_whitespace())
        .map(str::to_owned)
        .collect()
}

/// tetrad with default settings, except that prices do not move.
pub(crate) fn tetrad() -> Peer {
    builds("0").swap_remove(0)
}

/// tetrad, and the other build if there is one, with the given interval between price updates, in
/// seconds.
pub(crate) fn builds(price_tick: &str) -> Vec<Peer> {
    let other = AGAINST
        .get()
        .map(|program| build(OTHER, program, price_tick));
    let program = BINARY
        .get()
        .map_or(env!("CARGO_BIN_EXE_tetrad"), String::as_str);
    std::iter::once(build("tetrad", program, price_tick))
        .chain(other)
        .collect()
}

fn build(name: &'static str, program: &str, price_tick: &str) -> Peer {
    let common = "--quiet --ws-listen off --exchange-rate-limit 0 --listen 127.0.0.1:{port} --exchange-price-tick";
    Peer {
        name,
        command: words(program, &format!("{common} {price_tick}")),
        manual: false,
    }
}

/// The upper limit: axum and serde_json with a fixed response.
pub(crate) fn echo() -> Peer {
    let program = std::env::current_exe().unwrap();
    Peer {
        name: "echo",
        command: words(&program.to_string_lossy(), "--echo {port}"),
        manual: false,
    }
}

fn anvil_program() -> Option<String> {
    if let Ok(program) = std::env::var("ANVIL") {
        return Some(program).filter(|program| !program.is_empty());
    }
    let platform = match std::env::consts::ARCH {
        "aarch64" => "linux-arm64",
        _ => "linux-amd64",
    };
    let packages = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/benches/peers/node_modules/@foundry-rs"
    );
    let installed = format!("{packages}/anvil-{platform}/bin/anvil");
    if Path::new(&installed).exists() {
        return Some(installed);
    }
    eprintln!(
        "anvil not found, skipping it (set ANVIL, or run npm install --prefix benches/peers)"
    );
    None
}

/// anvil with automine. Without the flag it stalls at a thousand pending transactions.
pub(crate) fn anvil() -> Option<Peer> {
    let command = words(
        &anvil_program()?,
        "--quiet --port {port} --max-transactions 1000000",
    );
    Some(Peer {
        name: "anvil",
        command,
        manual: false,
    })
}

/// anvil's fastest mode: all transactions in one block, mined on demand.
pub(crate) fn anvil_best() -> Option<Peer> {
    let command = words(
        &anvil_program()?,
        "--quiet --port {port} --no-mining --gas-limit 10000000000",
    );
    Some(Peer {
        name: "anvil, one manual block",
        command,
        manual: true,
    })
}
