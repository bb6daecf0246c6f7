//! The `debug` namespace: encodings and traces.

mod raw;
mod trace;

use super::Table;

pub(super) fn methods(table: &mut Table) {
    raw::methods(table);
    trace::methods(table);
}
