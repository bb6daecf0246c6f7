//! Fields as the values that a file would have.

use std::{
    fmt::Display,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use toml::Value;

pub(super) fn text(text: impl Display) -> Option<Value> {
    Some(Value::String(text.to_string()))
}

/// The address of a listener, or `off`.
pub(super) fn address_or_off(address: Option<SocketAddr>) -> Option<Value> {
    text(address.map_or("off".to_owned(), |address| address.to_string()))
}

pub(super) fn integer(number: impl TryInto<i64>) -> Option<Value> {
    number.try_into().ok().map(Value::Integer)
}

pub(super) fn megabytes(bytes: usize) -> Option<Value> {
    integer(bytes >> 20)
}

pub(super) fn seconds(time: Duration) -> Option<Value> {
    Some(Value::Float(time.as_secs_f64()))
}

pub(super) fn switch(on: bool) -> Option<Value> {
    Some(Value::Boolean(on))
}

pub(super) fn path(path: Option<impl AsRef<Path>>) -> Option<Value> {
    path.map(|path| Value::String(path.as_ref().display().to_string()))
}

pub(super) fn paths(paths: &[PathBuf]) -> Option<Value> {
    list(paths.iter().map(|path| path.display()))
}

pub(super) fn list(items: impl IntoIterator<Item: Display>) -> Option<Value> {
    Some(Value::Array(
        items
            .into_iter()
            .map(|item| Value::String(item.to_string()))
            .collect(),
    ))
}

/// The name of a choice.
pub(super) fn choice<T: PartialEq>(choices: &[(&str, T)], chosen: &T) -> Option<Value> {
    choices
        .iter()
        .find(|(_, value)| value == chosen)
        .map(|(name, _)| Value::String((*name).to_owned()))
}
