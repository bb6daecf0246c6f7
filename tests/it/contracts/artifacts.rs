//! The compiled contracts. `TETRAD_ARTIFACTS` points the tests to another build, with which
//! `contracts/mutate.mjs` checks that they detect faults.

use std::{
    collections::HashMap,
    env, fs,
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex},
};

use alloy_primitives::{Bytes, hex};
use serde_json::Value;

pub(crate) fn directory() -> PathBuf {
    match env::var_os("TETRAD_ARTIFACTS") {
        Some(path) => path.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts/artifacts"),
    }
}

/// The code that creates a contract, without its constructor's arguments.
pub(crate) fn creation_code(name: &str) -> Bytes {
    static CODES: LazyLock<Mutex<HashMap<String, Bytes>>> = LazyLock::new(Mutex::default);
    CODES
        .lock()
        .unwrap()
        .entry(name.to_owned())
        .or_insert_with(|| code(name, "bytecode"))
        .clone()
}

pub(crate) fn runtime_code(name: &str) -> Bytes {
    code(name, "deployedBytecode")
}

fn code(name: &str, member: &str) -> Bytes {
    let path = directory().join(format!("{name}.json"));
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let artifact: Value = serde_json::from_str(&text).unwrap();
    hex::decode(artifact[member].as_str().unwrap())
        .unwrap()
        .into()
}
