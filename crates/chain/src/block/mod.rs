//! Block rules: headers, fees, building and sealing new blocks, checking foreign ones, and the
//! genesis block.

pub(super) mod apply;
pub(super) mod build;
pub(super) mod candidate;
pub(super) mod edit;
pub mod fees;
pub(super) mod foreign;
pub(super) mod genesis;
pub(super) mod header;
mod ommers;
pub(super) mod recorded;
pub(super) mod replay;
pub(super) mod seal;
pub(super) mod simulate;
