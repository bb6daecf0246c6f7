//! The `debug` namespace: encodings and traces.

mod raw;
mod storage;
mod trace;

use super::Table;

pub(super) fn methods(table: &mut Table) {
    raw::methods(table);
    storage::methods(table);
    trace::methods(table);
}
