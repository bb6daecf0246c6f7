//! Forking another node's chain.
//!
//! A fork has exchange and lending if the other chain has them (see [`deployed`](super::deployed)).

use std::sync::Arc;

use tetrad_chain::{Edit, Head, Recovered};
use tetrad_evm::ChainParams;
use tetrad_rpc::fork::{ChainForks, ForkBlock};
use tetrad_stdx::clock::Clock;

use super::{SpawnError, identity::Identity, open};
use crate::{
    config::Config,
    genesis::{FundedAccounts, development, file},
};

/// Returns the means to fork, at the start and on request of a development method.
pub(super) fn forks(
    config: &Config,
    identity: &Identity,
    clock: &Arc<dyn Clock>,
) -> Result<ChainForks, SpawnError> {
    let funded = identity.funded_accounts(config);
    let edits = first_edits(config, &funded)?;

    let mut own = config.clone();
    if own.fork.url.is_some() {
        // The file has accounts of forks, and need not be able to begin a chain.
        own.genesis = None;
    }
    let clock = clock.clone();
    Ok(ChainForks::new(
        config.fork.clone(),
        ChainParams {
            chain_id: config.network_chain_id(),
            ..open::network_params(config)
        },
        edits,
        Box::new(move || first_head(&own, &funded, &*clock).map_err(|error| error.to_string())),
        config.rpc.budget.clone(),
    ))
}

/// Returns what every fork begins with: coins of the development accounts, and the accounts of the
/// genesis file, which are as the file says.
fn first_edits(config: &Config, funded: &FundedAccounts) -> Result<Vec<Edit>, SpawnError> {
    let coins = development(funded)
        .into_iter()
        .map(|account| Edit::Balance(account.address, account.balance));
    let mut edits: Vec<_> = coins.collect();

    if let Some(path) = &config.genesis {
        let accounts = file::load_accounts(path)?.into_iter();
        edits.extend(accounts.map(|account| Edit::Accounts(vec![account])));
    }
    Ok(edits)
}

fn first_head(
    config: &Config,
    funded: &FundedAccounts,
    clock: &dyn Clock,
) -> Result<Head, SpawnError> {
    let (genesis, params) = open::first_block(config, funded, clock)?;
    Ok(genesis.build(Arc::new(params))?)
}

/// Begins a chain in memory at the given block of the other node.
pub(super) async fn begin(
    forks: &Arc<ChainForks>,
    block: ForkBlock,
) -> Result<Recovered, SpawnError> {
    let own = forks.clone();
    // Requests to the other node block the thread.
    let begun = tokio::task::spawn_blocking(move || own.begin(None, block)).await;

    let (head, fork) = begun.map_err(std::io::Error::other)??;
    forks.set(Some(fork));
    Ok(Recovered::in_memory(head))
}
