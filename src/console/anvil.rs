//! The lines that anvil prints of a block, in which scripts look for hashes and failures.

use std::{
    fmt::Write,
    time::{Duration, UNIX_EPOCH},
};

use tetrad_primitives::block::Block;
use tetrad_stdx::calendar::LAST_SECOND;

use super::{Console, abi::Decoder, log, replay::ReplayedTransaction, text, trace};

/// Appends a paragraph for each transaction, and one for the block.
pub(super) fn block(
    console: &Console,
    decoder: &Decoder<'_>,
    block: &Block,
    seen: &[ReplayedTransaction],
    out: &mut String,
) {
    out.push('\n');
    for at in 0..block.transactions.len() {
        transaction(console, decoder, block, at, seen.get(at), out);
        out.push('\n');
    }

    end_of_block(block, out);
}

/// Appends the paragraph for the block.
pub(super) fn end_of_block(block: &Block, out: &mut String) {
    // Writing to a string never fails.
    let _ = writeln!(out, "    Block Number: {}", block.number());
    let _ = writeln!(out, "    Block Hash: {}", block.hash);
    let _ = writeln!(
        out,
        "    Block Time: \"{}\"\n",
        rfc2822(block.header.timestamp)
    );
}

fn transaction(
    console: &Console,
    decoder: &Decoder<'_>,
    block: &Block,
    at: usize,
    seen: Option<&ReplayedTransaction>,
    out: &mut String,
) {
    let transaction = &block.transactions[at];
    let receipt = &block.receipts[at];
    if let Some(seen) = seen {
        log::lines(console, seen, out);
    }

    let _ = writeln!(out, "    Transaction: {}", transaction.hash());
    if let Some(address) = transaction.creates() {
        let _ = writeln!(out, "    Contract created: {address}");
    }
    let _ = writeln!(out, "    Gas used: {}", receipt.gas_used);
    if !receipt.succeeded() {
        let _ = writeln!(out, "    Error: {}", text::failure(decoder, seen));
    }

    let Some(seen) = seen else { return };
    if console.verbosity > 3 || (console.verbosity > 2 && !receipt.succeeded()) {
        trace::calls(console, decoder, seen, out);
    }
}

/// Returns seconds since the Unix epoch as in `Fri, 27 Nov 2026 23:19:11 +0000`.
fn rfc2822(seconds: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_secs(seconds.min(LAST_SECOND));
    httpdate::fmt_http_date(time).replace("GMT", "+0000")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_mail() {
        assert_eq!(rfc2822(1_795_821_551), "Fri, 27 Nov 2026 23:19:11 +0000");
        assert_eq!(rfc2822(u64::MAX), "Fri, 31 Dec 9999 23:59:59 +0000");
    }
}
