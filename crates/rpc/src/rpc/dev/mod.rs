//! Development methods: those of anvil and Hardhat under `anvil_`, `evm_` and `hardhat_`, with the
//! same parameters and results. They exist in the development profile only.

mod accounts;
mod blobs;
mod dump;
mod erc20;
mod impersonate;
mod info;
mod mine;
mod number;
mod pool;
mod reorg;
mod snapshot;
mod time;

pub use dump::read_dump;

use super::Table;

pub(super) fn methods(table: &mut Table) {
    accounts::methods(table);
    blobs::methods(table);
    dump::methods(table);
    erc20::methods(table);
    impersonate::methods(table);
    info::methods(table);
    mine::methods(table);
    pool::methods(table);
    reorg::methods(table);
    snapshot::methods(table);
    time::methods(table);
}
