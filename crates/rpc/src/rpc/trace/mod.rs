//! The `trace` namespace: traces in OpenEthereum's format.

mod block;
mod filter;
mod replay;

pub(super) use block::{Inputs, visit_block};

use super::Table;

pub(super) fn methods(table: &mut Table) {
    block::methods(table);
    filter::methods(table);
    replay::methods(table);
}
