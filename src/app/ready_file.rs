//! The ready file: the node's URLs and process id, for programs that start it on free ports.

use std::{
    io::{ErrorKind, Write},
    path::Path,
};

use serde::Serialize;
use tetrad_store::log::Durability;

use super::{Node, replaced_file};

/// The error of writing the ready file.
#[derive(Debug, thiserror::Error)]
#[error("--ready-file {0}: {1}")]
pub struct ReadyFileError(String, std::io::Error);

#[derive(Serialize)]
struct ReadyFile {
    rpc: String,
    ws: String,
    exchange_ws: String,
    rest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    comet: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cosmos_rest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grpc: Option<String>,
    pid: u32,
}

/// Removes the file of an earlier run, which names ports that this node does not have.
pub(super) fn remove(path: &Path) -> Result<(), ReadyFileError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(ReadyFileError(path.display().to_string(), error))
        }
        _ => Ok(()),
    }
}

/// Writes the file atomically: a reader never sees half of it.
pub(super) fn write(path: &Path, node: &Node) -> Result<(), ReadyFileError> {
    let ready = ReadyFile {
        rpc: node.rpc_url(),
        ws: node.ws_url(),
        exchange_ws: node.exchange_ws_url(),
        rest: node.rest_url(),
        comet: node.comet_url(),
        cosmos_rest: node.cosmos_rest_url(),
        grpc: node.grpc_url(),
        pid: std::process::id(),
    };

    replaced_file::replace(path, Durability::Os, |file| {
        serde_json::to_writer(&mut *file, &ready)?;
        file.write_all(b"\n")
    })
    .map_err(|error| ReadyFileError(path.display().to_string(), error))
}
