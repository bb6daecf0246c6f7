//! The effect of a million accounts, or a million storage slots of one contract, on the speed of
//! other operations.
//!
//! A growing node alternates with one of constant size, so that other load on the machine affects
//! both.

use std::time::Instant;

use alloy::primitives::{Address, Bytes, TxKind};
use serde_json::json;

use super::{
    Effort,
    client::{Client, Request},
    contracts::{deploy_multicall, deploy_token, many, mint_call},
    load::{Measured, repeat},
    peers, report,
    server::Server,
    transfers::{Kind, RECIPIENTS, SENDERS, Work, fund, submit},
    wallet::{Wallet, address_at},
};

/// New accounts or slots per transaction.
const STEP: u64 = 300;

/// Number of turns. More than the rounds of other workloads, since the ratio between the nodes is
/// what matters.
const TURNS: usize = 5;

/// A chain that can grow to a given number of accounts or slots.
struct Chain {
    server: Server,
    client: Client,
    funder: Wallet,
    multicall: Address,
    token: Address,
    senders: Vec<Wallet>,
    single: Wallet,
    size: u64,
}

/// The results of one turn.
struct Turn {
    /// 20,000 transfers, from all senders concurrently.
    many: Measured,
    /// Transfers from one account, each in its own block.
    single: Measured,
}

/// The median of a figure of a growing node, and its range.
fn spread(turns: &[(Turn, Turn)], figure: fn(&Turn) -> f64) -> String {
    report::spread(
        &turns
            .iter()
            .map(|(grown, _)| figure(grown))
            .collect::<Vec<_>>(),
    )
}

/// The same as a share of the other node's.
fn share(turns: &[(Turn, Turn)], figure: fn(&Turn) -> f64) -> String {
    let (grown, small): (Vec<_>, Vec<_>) = turns
        .iter()
        .map(|(grown, small)| (figure(grown), figure(small)))
        .unzip();
    report::ratio(&grown, &small)
}

pub(crate) fn run(effort: Effort) {
    for slots in [false, true] {
        let mut small = Chain::start();
        let mut grown = Chain::start();

        let what = if slots {
            "slots of one contract"
        } else {
            "accounts"
        };
        let columns = [
            "Size",
            "transfers per second",
            "of a small chain's",
            "µs each",
            "one sender's per second",
            "of a small chain's",
            "µs each",
            "empty block, ms",
            "eth_getBalance, µs",
            "of a small chain's",
            "MB",
            "bytes per entry",
        ];
        report::table(&format!("Growth: {what}"), &columns);

        let idle = grown.server.memory();

        for target in [0, effort.accounts / 10, effort.accounts] {
            grown.grow(target, slots);
            let memory = grown.server.memory();

            let turns: Vec<(Turn, Turn)> =
                (0..TURNS).map(|_| (grown.turn(), small.turn())).collect();
            let reads: Vec<(f64, f64)> = (0..TURNS)
                .map(|_| (grown.read(effort), small.read(effort)))
                .collect();

            let (grown_reads, small_reads): (Vec<_>, Vec<_>) = reads.into_iter().unzip();
            let per_entry = if target == 0 {
                f64::NAN
            } else {
                (memory - idle) * 1_048_576.0 / target as f64
            };

            let row = [
                spread(&turns, |turn| turn.many.per_second),
                share(&turns, |turn| turn.many.per_second),
                spread(&turns, |turn| turn.many.cpu),
                spread(&turns, |turn| turn.single.per_second),
                share(&turns, |turn| turn.single.per_second),
                spread(&turns, |turn| turn.single.cpu),
                report::figure(grown.empty_block()),
                report::spread(&grown_reads),
                report::ratio(&grown_reads, &small_reads),
                report::figure(memory),
                report::figure(per_entry),
            ];
            report::row(&[vec![target.to_string()], row.to_vec()].concat());
        }
        report::end();
    }
}

impl Chain {
    fn start() -> Self {
        let server = Server::start(&peers::tetrad().command);
        let mut client = server.client();
        let chain_id = client.number("eth_chainId", json!([]));
        let mut funder = Wallet::development(0, chain_id);
        let multicall = deploy_multicall(&mut client, &mut funder);
        let token = deploy_token(&mut client, &mut funder, multicall);

        let senders: Vec<Wallet> = (0..SENDERS)
            .map(|n| Wallet::numbered(n, chain_id))
            .collect();

        fund(
            &mut client,
            &mut funder,
            multicall,
            Kind::Native,
            &senders,
            false,
        );

        let single = Wallet::development(1, chain_id);
        Self {
            server,
            client,
            funder,
            multicall,
            token,
            senders,
            single,
            size: 0,
        }
    }

    /// Sends a wei or a token to new addresses up to the target size.
    fn grow(&mut self, target: u64, slots: bool) {
        while self.size < target {
            let range = self.size..(self.size + STEP).min(target);
            self.size = range.end;
            let (value, input) = if slots {
                many(range.map(|n| (self.token, mint_call(address_at(n), 1))), 0)
            } else {
                many(range.map(|n| (address_at(n), Bytes::new())), 1)
            };
            let raw = self
                .funder
                .sign(TxKind::Call(self.multicall), value, input, 16_000_000);
            let hash = self.client.call("eth_sendRawTransaction", json!([raw]));
            self.client.receipt(&hash);
        }
    }

    fn turn(&mut self) -> Turn {
        // The node closes idle connections, and this one was idle while the other node grew.
        self.client = self.server.client();

        // Recipients are spread evenly over all accounts.
        let stride = (self.size / RECIPIENTS).max(1);
        let work = Work {
            kind: Kind::Native,
            count: 20_000,
            stride,
            manual: false,
        };
        let one_by_one = Work {
            count: 5_000,
            ..work
        };

        let server = &self.server;
        let client = &mut self.client;
        let many = submit(server, client, &mut self.senders, work);
        let single = submit(
            server,
            client,
            std::slice::from_mut(&mut self.single),
            one_by_one,
        );
        Turn { many, single }
    }

    /// CPU time of reading the balance of the account in the middle, in microseconds.
    fn read(&mut self, effort: Effort) -> f64 {
        let balance = Request::rpc(
            "eth_getBalance",
            &json!([address_at(self.size / 2), "latest"]),
        );
        repeat(&self.server, &balance, effort.time).cpu
    }

    /// Duration of mining an empty block, in milliseconds.
    fn empty_block(&mut self) -> f64 {
        // The connection was idle during the reads.
        self.client = self.server.client();
        let began = Instant::now();
        for _ in 0..20 {
            self.client.call("evm_mine", json!([]));
        }
        began.elapsed().as_secs_f64() * 50.0
    }
}
