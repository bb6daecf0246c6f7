//! Hints on what to do about an error.

use std::io::ErrorKind;

use clap::error::{ContextKind, ContextValue};
use tetrad_store::store::DataDirError;
use toml::Value;

use super::Error;
use crate::{
    SpawnError,
    config::{Config, ConfigError, Kind, Setting, settings},
};

/// Returns a hint to print after the error, if there is one.
pub(super) fn hint(error: &Error) -> Option<String> {
    match error {
        Error::Config(error) | Error::Spawn(SpawnError::Config(error)) => Some(on_config(error)),
        _ => on_start(error).map(str::to_owned),
    }
}

/// Returns a hint on the flag of an error of the command line's parser, if it is that of a setting.
pub(super) fn on_flag(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(shown)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    // The parser names the value as well: `--chain-id <ID>`.
    let flag = shown.strip_prefix("--")?.split([' ', '=', '[']).next()?;
    settings().find(|setting| setting.flag() == flag).map(usage)
}

fn on_config(error: &ConfigError) -> String {
    let check = "`tetrad config check FILE` lists everything that is wrong with a file";
    match error.setting() {
        Some(setting) if error.is_in_file() => format!("{}; {check}", usage(setting)),
        Some(setting) => usage(setting),
        None => format!("{check}, `tetrad --help` lists all settings"),
    }
}

/// Returns the flag of a setting, its help, and an example of a value.
fn usage(setting: &Setting) -> String {
    let flag = setting.flag();
    let form = match setting.kind {
        Kind::Switch => format!("--{flag}"),
        _ => format!("--{flag} {}", setting.placeholder),
    };
    let example = example(setting)
        .map(|value| format!("; for example --{flag} {value}"))
        .unwrap_or_default();
    format!("{form}: {}{example}", setting.help)
}

/// Returns a value that the setting takes, as an argument.
fn example(setting: &Setting) -> Option<String> {
    let documented = format!("value = {}", setting.example)
        .parse::<toml::Table>()
        .ok();
    let documented = documented.and_then(|mut table| table.remove("value"));
    let value = setting.value(&Config::default()).or(documented)?;

    match value {
        Value::Boolean(_) => None,
        Value::String(text) => Some(quoted(&text)),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().filter_map(Value::as_str).collect();
            Some(quoted(&items.join(","))).filter(|items| !items.is_empty())
        }
        value => Some(value.to_string()),
    }
}

/// Quotes a text that a shell would split or expand.
fn quoted(text: &str) -> String {
    if text.contains([' ', '*', ';']) {
        format!("'{text}'")
    } else {
        text.to_owned()
    }
}

fn on_start(error: &Error) -> Option<&'static str> {
    match error {
        Error::Spawn(SpawnError::ListenUnix { source, .. }) => on_unix(source.kind()),
        Error::Spawn(SpawnError::Listen { flag, source, .. }) => on_port(flag, source.kind()),
        Error::Spawn(SpawnError::DataDir(error)) => on_directory(error),
        _ => None,
    }
}

fn on_port(flag: &str, kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::AddrInUse if flag == "ws-listen" => Some(
            "another program, perhaps another node, uses this port; choose another address, or off: prices are at /ws of \
             the main listener as well",
        ),
        ErrorKind::AddrInUse => {
            Some("another program, perhaps another node, uses this port; port 0 picks a free one")
        }
        ErrorKind::PermissionDenied => Some(
            "ports below 1024 need a privilege: choose another port, grant CAP_NET_BIND_SERVICE, or let systemd bind it \
             (config/tetrad.socket)",
        ),
        ErrorKind::AddrNotAvailable => Some(
            "no interface of this machine has this address; 0.0.0.0 stands for all of them, [::] with IPv6",
        ),
        _ => None,
    }
}

fn on_unix(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::AddrInUse => {
            Some("another program listens on it, or the file is not a socket; it was not touched")
        }
        ErrorKind::PermissionDenied => {
            Some("the user that runs tetrad needs write permission in that directory")
        }
        _ => None,
    }
}

fn on_directory(error: &DataDirError) -> Option<&'static str> {
    match error {
        DataDirError::InUse { .. } => Some(
            "only one process at a time can write a chain; `tetrad chain backup` copies it while that process runs",
        ),
        // The message names the remedy.
        DataDirError::Unfinished { .. } => None,
        DataDirError::Io { source, .. } => match source.kind() {
            ErrorKind::PermissionDenied => Some(
                "the user that runs tetrad needs permission to create the directory and files in it",
            ),
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                Some("there is a file of that name; name a directory")
            }
            ErrorKind::ReadOnlyFilesystem => {
                Some("the file system is mounted read-only; mount a volume there")
            }
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                Some("the disk is full; `tetrad chain compact` deletes old blocks")
            }
            _ => None,
        },
    }
}
