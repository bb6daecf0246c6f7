//! Executions on a fork, which have another node asked for what they read all at once, and not for
//! one slot after another.
//!
//! An execution first runs on what is at hand, with guesses in place of everything else. What it
//! missed is fetched, and it runs again, until it misses nothing: that run made no guess, and its
//! outcome is the one that counts. Each round finds what depends on the values of the one before,
//! so that their number is the depth of these dependencies, not the number of slots.

use std::collections::BTreeSet;

use alloy_primitives::{Address, U256};
use revm::{
    ExecuteEvm,
    context::TxEnv,
    context_interface::{ContextTr, result::ResultAndState},
};
use tetrad_primitives::state::{TracedCall, Wanted};

use super::{
    Evm, TransactionError,
    guesses::{Guesses, MAX_MISSED},
};

/// The most rounds. Whatever is missing after them is read one by one.
const MAX_ROUNDS: usize = 64;
/// The most gas of a run with guesses, in which a loop may not end.
const GUESSED_GAS: u64 = 50_000_000;
/// The most gas of all runs with guesses.
const MAX_GUESSED_GAS: u64 = 200_000_000;

/// Runs a transaction, which changes nothing yet. On a fork, all that it reads is fetched first.
pub(super) fn transact<'a, I>(
    evm: &mut Evm<'a, I>,
    tx: TxEnv,
) -> Result<ResultAndState, TransactionError> {
    if evm.ctx.db().asks_others()
        && let Some(outcome) = prefetch(evm, &tx)
    {
        return outcome;
    }
    Ok(evm.transact(tx)?)
}

/// Fetches all that a transaction reads on a fork, for a run with an inspector.
pub(super) fn prepare<I>(evm: &mut Evm<'_, I>, tx: &TxEnv) {
    if evm.ctx.db().asks_others() {
        let used = evm.ctx.db().used();
        // A failure is that of the run that follows, which begins with nothing loaded.
        let _ = prefetch(evm, tx);
        evm.finalize();
        evm.ctx.db_mut().forget(used);
    }
}

/// Runs on guesses until nothing is missing. Returns the outcome of the run that missed nothing; none
/// if there is no such run.
fn prefetch<I>(
    evm: &mut Evm<'_, I>,
    tx: &TxEnv,
) -> Option<Result<ResultAndState, TransactionError>> {
    let traced = TracedCall {
        from: tx.caller,
        to: tx.kind.to().copied(),
        value: tx.value,
        gas: tx.gas_limit,
        input: tx.data.clone(),
    };
    let mut untraced = Some(&traced);
    let named = named(tx, evm.ctx.block.beneficiary);
    let mut missed: BTreeSet<_> = evm.ctx.db().not_at_hand(named).into_iter().collect();
    let mut asked = BTreeSet::new();
    let mut gas = 0;

    for _ in 0..MAX_ROUNDS {
        if !missed.is_empty() {
            let wanted: Vec<_> = missed.iter().copied().collect();
            // Whatever is wrong with the other node is seen when the rest is read one by one.
            evm.ctx.db().fetch(&wanted, untraced.take()).ok()?;
            asked.append(&mut missed);
        }

        for word in [U256::ZERO, U256::ONE] {
            let used = evm.ctx.db().used();
            evm.ctx.db_mut().begin_guessing(Guesses::new(word));
            let outcome = evm.transact(tx_with(tx, tx.gas_limit.min(GUESSED_GAS)));
            let guesses = evm.ctx.db_mut().end_guessing()?;
            let outcome = outcome.map_err(TransactionError::from);
            let is_stopped = matches!(outcome, Err(TransactionError::Stopped));
            if guesses.is_empty() && tx.gas_limit <= GUESSED_GAS && !is_stopped {
                return Some(outcome);
            }

            // The journal may hold what the run has loaded, and the context what ended it.
            evm.finalize();
            *evm.ctx.error() = Ok(());
            evm.ctx.db_mut().forget(used);
            if guesses.is_empty() || is_stopped && evm.ctx.db().is_out_of_time() {
                return None;
            }
            missed.extend(guesses.into_missed());
            gas += outcome.map_or(GUESSED_GAS, |outcome| outcome.result.tx_gas_used());
            if gas > MAX_GUESSED_GAS {
                return None;
            }
        }

        missed.retain(|wanted| !asked.contains(wanted));
        if missed.is_empty() {
            return None;
        }
    }
    None
}

fn tx_with(tx: &TxEnv, gas_limit: u64) -> TxEnv {
    TxEnv {
        gas_limit,
        ..tx.clone()
    }
}

/// The accounts and slots that a transaction names itself.
fn named(tx: &TxEnv, beneficiary: Address) -> Vec<Wanted> {
    let accounts = [Some(tx.caller), tx.kind.to().copied(), Some(beneficiary)];
    let listed = tx.access_list.iter().flat_map(|item| {
        let slots = item.storage_keys.iter();
        let slots = slots.map(|key| Wanted::Slot(item.address, (*key).into()));
        std::iter::once(Wanted::Account(item.address)).chain(slots)
    });
    accounts
        .into_iter()
        .flatten()
        .map(Wanted::Account)
        .chain(listed)
        .take(MAX_MISSED)
        .collect()
}
