//! The `debug` namespace: encodings and traces.

mod accounts;
mod raw;
mod storage;
mod trace;

use super::Table;

pub(super) fn methods(table: &mut Table) {
    accounts::methods(table);
    raw::methods(table);
    storage::methods(table);
    trace::methods(table);
}
