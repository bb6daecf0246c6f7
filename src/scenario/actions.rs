//! The actions of scenarios. Each changes the chain in a way that clients have, too.

use std::{sync::Arc, time::Duration};

use alloy_primitives::{B256, U256};
use tetrad_chain::{Change, OutgoingCall, Pace};
use tetrad_exchange::feed::{PricePath, PriceScript, SourceSet};
use tetrad_network::network::USD_DECIMALS;
use tetrad_stdx::decimal;
use tetrad_web::{Fault, FaultGuard};

use super::{
    call::NamedAccount,
    document::{PriceTarget, StepTransaction},
    node::ScenarioNode,
};

/// The time of a step, since the scenario's start.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepMoment {
    /// Now.
    pub(super) elapsed: Duration,
    /// When the step was due.
    pub(super) due: Duration,
}

/// The effect of a step, which ends when it is dropped.
pub(super) enum ActiveEffect {
    Prices { _scripts: ActiveScripts },
    Fault { _guard: FaultGuard },
}

/// The price scripts of a step.
pub(super) struct ActiveScripts {
    sources: Arc<SourceSet>,
    /// Tokens, and the ids of their scripts.
    scripts: Vec<(usize, u64)>,
}

impl ActiveScripts {
    fn set(&mut self, token: usize, script: PriceScript) {
        self.scripts
            .push((token, self.sources.scripted().set(token, script)));
    }
}

impl Drop for ActiveScripts {
    fn drop(&mut self) {
        self.scripts
            .iter()
            .for_each(|(token, script)| self.sources.scripted().withdraw(*token, *script));
    }
}

impl ScenarioNode {
    /// Moves prices from where they are, beginning at the time at which the step was due.
    pub(super) async fn move_prices(
        &self,
        tokens: &[usize],
        target: PriceTarget,
        over_seconds: u64,
        moment: StepMoment,
    ) -> Result<(ActiveEffect, String), String> {
        let (market, sources) = self.exchange.as_ref().ok_or("the chain has no exchange")?;
        let state = market.current().await.map_err(|error| error.to_string())?;

        // A step that is performed late moves prices as if it had been on time.
        let late = moment.elapsed.saturating_sub(moment.due).as_secs();
        let begins = self.chain.now().saturating_sub(late);

        let mut active = ActiveScripts {
            sources: sources.clone(),
            scripts: Vec::new(),
        };
        let mut done = Vec::new();
        for token in tokens {
            let from = state
                .quotes
                .get(*token)
                .map(|quote| quote.price)
                .filter(|price| *price > 0);
            let from = from.ok_or("the token has no price")?;

            let to = match target {
                PriceTarget::Price(price) => price,
                PriceTarget::Change(bps) => changed(from, bps),
            };

            active.set(
                *token,
                PriceScript::Path(PricePath {
                    from,
                    to,
                    begins,
                    seconds: over_seconds,
                }),
            );
            done.push(format!(
                "{} to {}",
                self.symbol(*token),
                decimal::shortest(U256::from(to), USD_DECIMALS)
            ));
        }
        Ok((ActiveEffect::Prices { _scripts: active }, done.join(", ")))
    }

    /// Stops the updates of prices.
    pub(super) fn silence(&self, tokens: &[usize]) -> Result<(ActiveEffect, String), String> {
        let (_, sources) = self.exchange.as_ref().ok_or("the chain has no exchange")?;
        let mut active = ActiveScripts {
            sources: sources.clone(),
            scripts: Vec::new(),
        };
        tokens
            .iter()
            .for_each(|token| active.set(*token, PriceScript::Silence));
        let silent: Vec<_> = tokens.iter().map(|token| self.symbol(*token)).collect();
        Ok((ActiveEffect::Prices { _scripts: active }, silent.join(", ")))
    }

    fn symbol(&self, token: usize) -> &str {
        self.network
            .tokens
            .get(token)
            .map_or("", |token| &token.symbol)
    }

    /// Sends a transaction. Fails if it is refused.
    pub(super) async fn send(&self, transaction: &StepTransaction) -> Result<B256, String> {
        let sender = match transaction.from {
            NamedAccount::Owner => &self.owner,
            NamedAccount::Development(index) => {
                self.accounts.get(index).ok_or("no such account")?
            }
        };

        let chain = self.chain.clone();
        let lens = self.network.contracts.lending_lens;
        let input = transaction.input.clone();
        let account = sender.account();
        // An amount may have to be read from a contract.
        let encoded =
            tokio::task::spawn_blocking(move || input.encode(&chain, lens, account)).await;
        let input = encoded.map_err(|error| error.to_string())??;

        let call = OutgoingCall {
            to: transaction.to,
            value: transaction.value,
            input,
            gas_limit: transaction.gas,
            access_list: None,
        };
        sender.send(&call).await.map_err(|error| error.to_string())
    }

    /// Advances the chain's time, and seals a block.
    pub(super) async fn advance(&self, seconds: u64) -> Result<String, String> {
        let moved = i64::try_from(seconds).map_err(|error| error.to_string())?;

        self.chain
            .increase_time(moved)
            .await
            .map_err(|error| error.to_string())?;

        self.chain
            .mine(1, Pace::default())
            .await
            .map_err(|error| error.to_string())?;
        Ok(format!("{seconds} s"))
    }

    /// Replaces the newest blocks by empty ones.
    pub(super) async fn reorg(&self, depth: u64) -> Result<String, String> {
        let head = self.chain.head();
        let height = head.number() - head.genesis.number();
        if depth > height {
            return Err(format!("the chain has only {height} blocks"));
        }

        let blocks = (0..depth).map(|_| Vec::new()).collect();
        self.chain
            .change(Change::Reorg { blocks })
            .await
            .map_err(|error| error.to_string())?;
        Ok(format!("{depth} blocks from {}", head.number() - depth + 1))
    }

    /// Puts a fault into effect.
    pub(super) fn fault(&self, fault: &Fault, cut: bool) -> ActiveEffect {
        let guard = self.faults.add(fault.clone());
        if cut {
            self.faults.cut(fault.scope, &fault.clients);
        }
        ActiveEffect::Fault { _guard: guard }
    }
}

/// A price after a change in basis points, within what the oracle can hold.
fn changed(price: u64, bps: i64) -> u64 {
    let factor = u128::try_from(10_000 + bps).unwrap_or_default();
    let changed = u128::from(price) * factor / 10_000;
    u64::try_from(changed)
        .unwrap_or(u64::MAX)
        .clamp(1, i64::MAX as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_stays_within_what_the_oracle_holds() {
        assert_eq!(changed(351_235_000_000, -4_000), 210_741_000_000);
        assert_eq!(changed(100, 1_000_000), 10_100);
        assert_eq!(changed(1, -9_999), 1);
        assert_eq!(changed(i64::MAX as u64, 1_000_000), i64::MAX as u64);
    }
}
