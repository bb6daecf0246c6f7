//! The `debug` namespace: encodings and traces.

mod raw;

use super::Table;

pub(super) fn methods(table: &mut Table) {
    raw::methods(table);
}
