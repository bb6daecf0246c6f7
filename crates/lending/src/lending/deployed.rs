//! The address of a chain's lending pool.

use alloy_primitives::Address;
use tetrad_chain::View;
use tetrad_contracts::contracts::{bindings::LendingLens, read};
use tetrad_network::network::Network;

/// Returns the pool of the chain at `view`: the one that the lens was created for. Chains of
/// earlier versions have theirs at another address than new ones. Without a lens there, which only
/// a development method can remove, it is the network's.
pub fn deployed_pool(view: &View, network: &Network) -> Address {
    let contracts = &network.contracts;
    let pool = read(view, contracts.lending_lens, &LendingLens::poolCall {});
    pool.ok()
        .filter(|pool| !pool.is_zero())
        .unwrap_or(contracts.lending_pool)
}
