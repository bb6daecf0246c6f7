//! The rules that every history and the chain after it must satisfy.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap},
};

use alloy::primitives::{B256, U256};

use super::{
    history::{HeadRead, History},
    reading::ChainCopy,
};

/// All violations, in words.
pub(crate) fn violations(history: &History, chain: &ChainCopy) -> Vec<String> {
    let rules = [
        included_once,
        own_writes,
        monotonic_heads,
        no_forks,
        counters,
        balances,
    ];
    let found = rules.into_iter().flat_map(|rule| rule(history, chain));
    history.anomalies.iter().cloned().chain(found).collect()
}

/// The hash of a block on the first node, or none if it does not have it.
fn hash_at(history: &History, chain: &ChainCopy, number: u64) -> Option<B256> {
    let index = usize::try_from(number.checked_sub(history.base)?).ok()?;
    chain.hashes.first()?.get(index).copied().flatten()
}

/// The first block that was given up together with this one; none if this one was not.
fn given_up_from(history: &History, number: u64) -> Option<u64> {
    let together = history
        .given_up
        .iter()
        .filter(|blocks| blocks.contains(&number));
    together.map(|blocks| *blocks.start()).min()
}

/// Whether a transaction of this block may have been in a block that was given up.
fn may_have_waited_again(history: &History, number: u64) -> bool {
    history
        .given_up
        .iter()
        .any(|blocks| number >= *blocks.start())
}

/// No transaction is included twice, and every acknowledged transaction is included.
fn included_once(history: &History, chain: &ChainCopy) -> Vec<String> {
    let mut blocks = HashMap::<B256, Vec<u64>>::new();
    for transaction in &chain.transactions {
        blocks
            .entry(transaction.hash)
            .or_default()
            .push(transaction.block);
    }
    let twice = blocks.iter().filter(|(_, blocks)| blocks.len() > 1);
    let twice = twice.map(|(hash, blocks)| format!("{hash} is in the blocks {blocks:?}"));
    let lost = history
        .acknowledged
        .iter()
        .filter(|acknowledged| !blocks.contains_key(&acknowledged.hash));
    let lost = lost.map(|lost| {
        let hash = lost.hash;
        let sender = lost.sender;
        let nonce = lost.nonce;
        let at = lost.at;
        let by = format!("node {} on connection {}", lost.node, lost.connection);
        format!("{hash} of sender {sender} with nonce {nonce}, acknowledged by {by} after {at:?}, is lost")
    });
    twice.chain(lost).collect()
}

/// An acknowledged transaction can be read on the same connection, and the response stays true.
fn own_writes(history: &History, chain: &ChainCopy) -> Vec<String> {
    let mut violations = Vec::new();
    let blocks: HashMap<_, _> = chain
        .transactions
        .iter()
        .map(|included| (included.hash, included.block))
        .collect();

    for acknowledged in &history.acknowledged {
        let Some(own) = &acknowledged.own else {
            continue;
        };
        let hash = acknowledged.hash;
        let node = acknowledged.node;
        let nonce = acknowledged.nonce;
        let waited_again = blocks
            .get(&hash)
            .is_some_and(|block| may_have_waited_again(history, *block));

        match own.block {
            None if waited_again => {}
            None => violations.push(format!(
                "node {node} acknowledged {hash}, and had no receipt"
            )),
            Some((number, block))
                if hash_at(history, chain, number) != Some(block)
                    && given_up_from(history, number).is_none() =>
            {
                violations
                    .push(format!("node {node} had {hash} in the block {number} {block}, which is not in the chain"));
            }
            Some(_) => {}
        }

        if own.nonce != nonce + 1 && !waited_again {
            let count = own.nonce;
            violations.push(format!(
                "node {node} acknowledged {hash} with nonce {nonce}, and counted {count} before it"
            ));
        }
    }

    violations
}

/// Heads never go back on one connection, and all of them are in the chain.
fn monotonic_heads(history: &History, chain: &ChainCopy) -> Vec<String> {
    let mut violations = Vec::new();
    let mut last = BTreeMap::<u64, &HeadRead>::new();
    for head in &history.heads {
        let HeadRead {
            node,
            connection,
            number,
            hash,
        } = head;

        if let Some(before) = last.insert(*connection, head) {
            let given_up = given_up_from(history, before.number);
            match number.cmp(&before.number) {
                // The block before is the last one that was kept.
                Ordering::Less if given_up.is_none_or(|first| number + 1 < first) => {
                    violations.push(format!(
                        "the head of node {node} went back from {} to {number}",
                        before.number
                    ));
                }
                Ordering::Equal if *hash != before.hash && given_up.is_none() => {
                    violations.push(format!(
                        "the head {number} of node {node} changed from {:?} to {hash:?}",
                        before.hash
                    ));
                }
                _ => {}
            }
        }

        match hash {
            _ if given_up_from(history, *number).is_some() => {}
            None => violations.push(format!(
                "node {node} reported the head {number}, and did not have it"
            )),
            // A node that lags may be at a block before the run.
            Some(hash)
                if *number >= history.base && hash_at(history, chain, *number) != Some(*hash) =>
            {
                violations.push(format!(
                    "the head {number} {hash} of node {node} is not in the chain"
                ));
            }
            Some(_) => {}
        }
    }

    violations
}

/// All nodes have the same block at every height.
fn no_forks(history: &History, chain: &ChainCopy) -> Vec<String> {
    let mut violations = Vec::new();
    for (node, hashes) in chain.hashes.iter().enumerate() {
        for (number, hash) in (history.base..).zip(hashes) {
            let first = hash_at(history, chain, number);
            match hash {
                None => violations.push(format!("node {node} does not have the block {number}")),
                Some(hash) if first != Some(*hash) => {
                    violations.push(format!(
                        "the block {number} is {first:?} on node 0 and {hash} on node {node}"
                    ));
                }
                Some(_) => {}
            }
        }
    }
    violations
}

/// The counter counted exactly the calls in the chain, and all transactions of the clients succeed.
fn counters(history: &History, chain: &ChainCopy) -> Vec<String> {
    let mut violations = Vec::new();
    for (index, (account, _)) in history.accounts.iter().enumerate() {
        let own = chain
            .transactions
            .iter()
            .filter(|transaction| transaction.from == *account);
        let failed = own.clone().filter(|transaction| !transaction.succeeded);
        violations.extend(failed.map(|failed| format!("{} failed", failed.hash)));
        let calls = own
            .filter(|transaction| transaction.succeeded && transaction.to == Some(history.counter))
            .count();
        for (node, counted) in chain
            .counters
            .iter()
            .map(|counters| counters[index])
            .enumerate()
        {
            if counted != U256::from(calls) {
                violations.push(format!(
                    "{calls} calls of {account} are in the chain, node {node} counted {counted}"
                ));
            }
        }
    }
    violations
}

/// Every balance is the initial one, less transfers and fees, plus incoming transfers.
fn balances(history: &History, chain: &ChainCopy) -> Vec<String> {
    let mut violations = Vec::new();
    for (index, (account, before)) in history.accounts.iter().enumerate() {
        let mut income = *before;
        let mut expense = U256::ZERO;

        for transaction in &chain.transactions {
            let value = if transaction.succeeded {
                transaction.value
            } else {
                U256::ZERO
            };
            if transaction.from == *account {
                expense += value + transaction.fee;
            }
            if transaction.to == Some(*account) {
                income += value;
            }
        }

        for (node, balance) in chain
            .balances
            .iter()
            .map(|balances| balances[index])
            .enumerate()
        {
            if balance.checked_add(expense) != Some(income) {
                violations.push(format!(
                    "{account} has {balance} on node {node} instead of {income} - {expense}"
                ));
            }
        }
    }

    violations
}
