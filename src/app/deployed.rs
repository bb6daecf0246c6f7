//! The network's contracts as they are on the chain, and the signers that act for them.
//!
//! On the node's own chain the contracts are those of its first block, and their roles belong to its
//! own accounts. On a fork of the network they are the other chain's: their owner and their updater
//! may be accounts whose keys others have, and are then impersonated, where development methods
//! could do the same.

use std::sync::Arc;

use alloy_primitives::Address;
use tetrad_chain::{Edit, Head, Signer, View};
use tetrad_exchange::OracleRoles;
use tetrad_lending::lending::deployed_pool;
use tetrad_network::{account::SecretKey, network::Network};
use tetrad_primitives::state::ReadError;
use tetrad_rpc::fork::{ChainForks, begin_with, fetch_together};
use tracing::{info, warn};

use super::identity::Identity;
use crate::config::Config;

/// The network's contracts on the chain, and the signers that act for them.
pub(super) struct Deployed {
    /// The network, with the lending pool that the chain uses.
    pub(super) network: Arc<Network>,
    /// Whether the chain has exchange and lending.
    pub(super) has_exchange: bool,
    /// Whether the contracts were deployed on the chain that this one forks.
    pub(super) is_forked: bool,
    /// The owner of the contracts, if the node may act for it.
    pub(super) owner: Option<Signer>,
    /// The account that updates prices, if the node may act for it.
    pub(super) updater: Option<Signer>,
}

impl Deployed {
    /// Finds the contracts on the chain.
    pub(super) fn find(
        config: &Config,
        identity: &Identity,
        forks: &ChainForks,
        head: &Head,
    ) -> Self {
        let mut found = Self {
            network: Arc::new(config.network.clone()),
            has_exchange: config.may_have_exchange(),
            is_forked: false,
            owner: Some(Signer::Key(identity.treasury.clone())),
            updater: Some(Signer::Key(identity.updater.clone())),
        };
        if found.has_exchange
            && let Some(fork) = forks.current()
        {
            found.has_exchange = forks.is_network(fork.chain_id) && found.is_there(head);
            found.is_forked = true;
        }
        if found.has_exchange && found.is_forked {
            found.find_roles(config, identity, head);
        }

        if found.has_exchange {
            let view = View::newest(Arc::new(head.clone()));
            let network = Arc::make_mut(&mut found.network);
            network.contracts.lending_pool = deployed_pool(&view, &config.network);
        }
        found
    }

    /// Returns whether the contracts are on the chain and can be read.
    fn is_there(&self, head: &Head) -> bool {
        has_contracts(&self.network, head).unwrap_or_else(|error| {
            warn!("the network's contracts could not be read: {error}; there is no exchange");
            false
        })
    }

    /// Finds the signers that act for the contracts of a forked chain.
    fn find_roles(&mut self, config: &Config, identity: &Identity, head: &Head) {
        let view = View::newest(Arc::new(head.clone()));
        let roles = OracleRoles::read(&view, &self.network).inspect_err(|error| {
            warn!("the oracle's roles cannot be read: {error}");
        });
        let roles = roles.ok();
        let owner = roles.map(|roles| roles.owner);
        let updater = roles.map(|roles| roles.updater);
        self.owner = signer_of(owner, &identity.treasury, config);
        self.updater = signer_of(updater, &identity.updater, config);
        self.log_roles();
    }

    /// Logs the accounts for which the node acts without their keys.
    fn log_roles(&self) {
        match &self.updater {
            Some(Signer::Impersonated(account)) => {
                info!("prices are updated by {account}, which is impersonated");
            }
            Some(Signer::Key(_)) => {}
            None => warn!(
                "prices are not updated: the node may not act for the oracle's updater, or there is none"
            ),
        }
        if let Some(Signer::Impersonated(account)) = &self.owner {
            info!("the contracts are administered by {account}, which is impersonated");
        }
    }

    /// Returns the chain with coins for the accounts that are impersonated, at least as many as a
    /// development account has.
    pub(super) fn fund(&self, config: &Config, head: Head) -> Result<Head, ReadError> {
        let mut edits = Vec::new();
        for signer in [&self.owner, &self.updater] {
            if let Some(Signer::Impersonated(account)) = signer
                && head.state.balance(*account)? < config.balance
            {
                edits.push(Edit::Balance(*account, config.balance));
            }
        }

        if edits.is_empty() {
            return Ok(head);
        }
        begin_with(head, &edits)
    }
}

/// Returns the signer for an account that may have this key, if the node may act for it.
fn signer_of(account: Option<Address>, key: &SecretKey, config: &Config) -> Option<Signer> {
    match account {
        Some(account) if account == key.address() => Some(Signer::Key(key.clone())),
        Some(account) if config.rpc.development && !account.is_zero() => {
            Some(Signer::Impersonated(account))
        }
        _ => None,
    }
}

/// Whether exchange and lending are on the chain.
fn has_contracts(network: &Network, head: &Head) -> Result<bool, ReadError> {
    let contracts = &network.contracts;
    let tokens = network.tokens.iter();
    let all = [contracts.lending_pool, contracts.lending_lens]
        .into_iter()
        .chain(tokens.flat_map(|token| [token.address, token.receipt]))
        .chain([contracts.oracle, contracts.vault]);
    // All that the services read, not only what is looked at here.
    fetch_together(&head.state, all);

    for contract in [contracts.oracle, contracts.vault] {
        let account = head.state.get(contract)?;
        if account.is_none_or(|account| account.code().is_empty()) {
            return Ok(false);
        }
    }
    Ok(true)
}
