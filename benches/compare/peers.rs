//! Who is measured, and how each is started.

use std::path::Path;

/// A node to measure.
pub struct Peer {
    /// Its name in the tables.
    pub name: &'static str,
    /// The program and its arguments; `{port}` stands for the port.
    pub command: Vec<String>,
    /// Whether blocks are made by `evm_mine` instead of as soon as there is something to include.
    pub manual: bool,
}

fn words(program: &str, arguments: &str) -> Vec<String> {
    std::iter::once(program).chain(arguments.split_whitespace()).map(str::to_owned).collect()
}

/// tetrad as it comes, but without prices that move by themselves.
pub fn tetrad() -> Peer {
    tetrad_ticking("0")
}

/// tetrad with prices that move every so many seconds.
pub fn tetrad_ticking(seconds: &str) -> Peer {
    Peer { name: "tetrad", command: tetrad_command(env!("CARGO_BIN_EXE_tetrad"), seconds), manual: false }
}

/// Another build of tetrad, such as the one before a change, if the variable `BASELINE` names the program.
pub fn baseline() -> Option<Peer> {
    let program = std::env::var("BASELINE").ok()?;
    Some(Peer { name: "tetrad, baseline", command: tetrad_command(&program, "0"), manual: false })
}

fn tetrad_command(program: &str, price_tick: &str) -> Vec<String> {
    let common = "--quiet --ws-listen off --exchange-rate-limit 0 --listen 127.0.0.1:{port} --exchange-price-tick";
    words(program, &format!("{common} {price_tick}"))
}

/// The bare limit: axum and serde_json with a fixed answer.
pub fn echo() -> Peer {
    let program = std::env::current_exe().unwrap();
    Peer { name: "echo", command: words(&program.to_string_lossy(), "--echo {port}"), manual: false }
}

fn anvil_program() -> Option<String> {
    if let Ok(program) = std::env::var("ANVIL") {
        return Some(program).filter(|program| !program.is_empty());
    }
    let platform = match std::env::consts::ARCH {
        "aarch64" => "linux-arm64",
        _ => "linux-amd64",
    };
    let packages = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/node_modules/@foundry-rs");
    let installed = format!("{packages}/anvil-{platform}/bin/anvil");
    if Path::new(&installed).exists() {
        return Some(installed);
    }
    eprintln!("anvil is not there (ANVIL=…, or npm install --prefix benches/peers), so it is left out");
    None
}

/// anvil, automatic. Without the flag it stalls once a thousand transactions wait.
pub fn anvil() -> Option<Peer> {
    let command = words(&anvil_program()?, "--quiet --port {port} --max-transactions 1000000");
    Some(Peer { name: "anvil", command, manual: false })
}

/// anvil's best mode: everything in one block, made on demand.
pub fn anvil_best() -> Option<Peer> {
    let command = words(&anvil_program()?, "--quiet --port {port} --no-mining --gas-limit 10000000000");
    Some(Peer { name: "anvil, one manual block", command, manual: true })
}
