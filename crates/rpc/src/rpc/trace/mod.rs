//! The `trace` namespace: traces in OpenEthereum's format.

mod block;
mod filter;
mod replay;

use super::Table;

pub(super) use block::{Inputs, visit_block};

pub(super) fn methods(table: &mut Table) {
    block::methods(table);
    filter::methods(table);
    replay::methods(table);
}
