//! The scenarios of a node.

use std::{fs::File, io::Read, path::Path, sync::Arc};

use tetrad_chain::TransactionSender;
use tetrad_exchange::{Market, feed::SourceSet};
use tetrad_network::account::SecretKey;

use super::{SpawnError, deployed::Deployed, identity::Identity, services::Services};
use crate::{
    config::Config,
    scenario::{READY_MADE, Scenario, ScenarioContext, ScenarioNode, Scenarios},
};

/// Most bytes of a file that are read: more than a scenario may have.
const MAX_READ: u64 = 1 << 20;

/// Returns what documents may refer to.
pub(super) fn context(
    config: &Config,
    deployed: &Deployed,
    identity: &Identity,
) -> ScenarioContext {
    let network = deployed.has_exchange.then(|| deployed.network.clone());
    ScenarioContext {
        has_prices: network.is_some() && config.exchange.price_tick.is_some(),
        network,
        development: config.rpc.development,
        owner: match &deployed.owner {
            Some(owner) => owner.account(),
            None => identity.treasury.address(),
        },
        accounts: identity
            .development
            .iter()
            .map(SecretKey::address)
            .collect(),
    }
}

/// Returns the scenario that runs from the start, if one is configured.
pub(super) fn configured(
    config: &Config,
    context: &ScenarioContext,
) -> Result<Option<Scenario>, SpawnError> {
    config
        .scenario
        .as_deref()
        .map(|file| load(file, context))
        .transpose()
}

/// Reads a scenario from a file, or takes the ready-made one of this name.
fn load(file: &Path, context: &ScenarioContext) -> Result<Scenario, SpawnError> {
    let failed = |what: String| SpawnError::Scenario(format!("{}: {what}", file.display()));
    if !file.exists() {
        let document = READY_MADE
            .iter()
            .find(|(name, _)| file.as_os_str() == *name)
            .map(|(_, document)| document);
        let document = document.ok_or_else(|| {
            let names = READY_MADE.map(|(name, _)| name).join(", ");
            failed(format!(
                "no such file, nor one of the ready-made scenarios ({names})"
            ))
        })?;
        return Scenario::parse(document, context).map_err(|error| failed(error.to_string()));
    }

    let mut text = String::new();
    let read = File::open(file).and_then(|file| file.take(MAX_READ).read_to_string(&mut text));
    read.map_err(|error| failed(error.to_string()))?;
    Scenario::parse(&text, context).map_err(|error| failed(error.to_string()))
}

impl Services {
    /// Returns the scenarios, none of which runs yet.
    pub(super) fn scenarios(
        &self,
        exchange: Option<(Market, Arc<SourceSet>)>,
        owner: Arc<TransactionSender>,
        accounts: Vec<Arc<TransactionSender>>,
        context: ScenarioContext,
    ) -> Scenarios {
        Scenarios::new(ScenarioNode {
            chain: self.chain.clone(),
            network: self.network.clone(),
            exchange,
            faults: self.faults.clone(),
            owner,
            accounts,
            context,
            clock: self.clock.clone(),
            shutdown: self.shutdown.clone(),
        })
    }
}
