//! The line of a transaction.

use alloy_consensus::Transaction as _;
use alloy_primitives::{TxKind, U256, utils::format_ether};
use tetrad_primitives::block::Block;

use super::{
    Console,
    abi::{Decoder, short},
    replay::ReplayedTransaction,
};

/// The most places in sources that are shown of a failure, the innermost first.
const MAX_PLACES: usize = 16;

/// Appends `#12 0x4f2c… (the whole hash)  0xf39F…2266 → USDC.approve  46213 gas`, and the reason of
/// a failure, with the places in sources that led to it.
pub(super) fn line(
    console: &Console,
    decoder: &Decoder<'_>,
    block: &Block,
    at: usize,
    seen: Option<&ReplayedTransaction>,
    out: &mut String,
) {
    let transaction = &block.transactions[at];
    let receipt = &block.receipts[at];
    let tx = &transaction.envelope;
    let target = match tx.kind() {
        TxKind::Create => match transaction.creates() {
            Some(address) => format!("new contract {}", address.to_checksum(None)),
            None => "new contract".to_owned(),
        },
        TxKind::Call(to) if tx.input().is_empty() => decoder.account(to),
        TxKind::Call(to) if console.verbosity > 0 => {
            format!("{}.{}", decoder.account(to), decoder.call(to, tx.input()))
        }
        TxKind::Call(to) => format!(
            "{}.{}",
            decoder.account(to),
            decoder.function(to, tx.input())
        ),
    };

    out.push_str(&format!(
        "#{} {}  {} → {}",
        block.number(),
        console.styles.faint(&transaction.hash().to_string()),
        short(transaction.sender),
        console.styles.name(&target),
    ));

    if tx.value() > U256::ZERO {
        out.push_str(&format!(
            "  {} {}",
            trimmed(&format_ether(tx.value())),
            console.coin
        ));
    }
    out.push_str(&console.styles.faint(&format!("  {} gas", receipt.gas_used)));
    if !receipt.succeeded() {
        out.push_str(&format!(
            "  {}",
            console.styles.failure(&failure(decoder, seen))
        ));
    }
    out.push('\n');

    let failed = seen.map(|seen| seen.failed.as_slice()).unwrap_or_default();
    let innermost = failed.iter().rev().take(MAX_PLACES);
    for place in innermost.filter_map(|call| decoder.place(call)) {
        out.push_str(&format!("      {}\n", console.styles.faint(&place)));
    }
}

/// Returns the reason of a failure.
pub(super) fn failure(decoder: &Decoder<'_>, seen: Option<&ReplayedTransaction>) -> String {
    match seen.map(|seen| (&seen.halt, seen.calls.first())) {
        Some((Some(reason), _)) => format!("failed: {reason}"),
        Some((None, Some(root))) => {
            format!(
                "reverted: {}",
                decoder.revert(root.execution_address(), &root.trace.output)
            )
        }
        _ => "failed".to_owned(),
    }
}

/// Appends one dim line for a transaction of the node's own.
pub(super) fn own_line(
    console: &Console,
    decoder: &Decoder<'_>,
    block: &Block,
    at: usize,
    out: &mut String,
) {
    let transaction = &block.transactions[at];
    let receipt = &block.receipts[at];
    let tx = &transaction.envelope;
    let target = match tx.kind() {
        TxKind::Create => "new contract".to_owned(),
        TxKind::Call(to) => format!(
            "{}.{}",
            decoder.account(to),
            decoder.function(to, tx.input())
        ),
    };

    let outcome = if receipt.succeeded() { "" } else { "  failed" };
    let line = format!(
        "#{} {}  {target}  {} gas{outcome}",
        block.number(),
        transaction.hash(),
        receipt.gas_used
    );

    out.push_str(&console.styles.faint(&line));
    out.push('\n');
}

/// Removes zeros at the end of a decimal fraction.
fn trimmed(number: &str) -> &str {
    number.trim_end_matches('0').trim_end_matches('.')
}
