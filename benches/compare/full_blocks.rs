//! Blocks of 60 million gas, from the request to mine one to its response. The transactions are in
//! the pool already.

use std::time::Instant;

use serde_json::json;

use super::{
    Effort,
    contracts::{deploy_multicall, deploy_token},
    load::{each, in_turns},
    peers::{self, Peer},
    report,
    server::Server,
    transfers::{Kind, SENDERS, Work, fund, sign},
    wallet::Wallet,
};

const GAS: u64 = 60_000_000;
/// Number of native transfers in a block. As many transfers of tokens are more than fit.
const COUNT: u64 = GAS / 21_000;
/// Least number of blocks. They are quick, so there can be more than the rounds of other workloads.
const BLOCKS: usize = 10;

/// A node with funded senders that mines on demand.
struct Miner {
    server: Server,
    senders: Vec<Wallet>,
    kind: Kind,
}

pub(crate) fn run(effort: Effort) {
    let columns = [
        "Block of 60 M gas",
        "Node",
        "transactions",
        "ms of evm_mine",
        "M gas per second",
    ];
    report::table("Full blocks", &columns);

    let peers: Vec<Peer> = peers::builds("0")
        .into_iter()
        .chain(peers::anvil())
        .collect();
    let names: Vec<&str> = peers.iter().map(|peer| peer.name).collect();

    for tokens in [false, true] {
        let mut miners: Vec<Miner> = peers
            .iter()
            .map(|peer| Miner::start(peer, tokens))
            .collect();
        let runs = in_turns(effort.rounds.max(BLOCKS), &mut miners, Miner::mine);
        report::rows(
            &[if tokens {
                "ERC-20 transfers"
            } else {
                "native transfers"
            }],
            &names,
            &runs,
        );
    }

    report::end();
}

impl Miner {
    fn start(peer: &Peer, tokens: bool) -> Self {
        let server = Server::start(&peer.command);
        let mut client = server.client();
        let chain_id = client.number("eth_chainId", json!([]));
        let mut funder = Wallet::development(0, chain_id);

        let multicall = deploy_multicall(&mut client, &mut funder);
        let token = tokens.then(|| deploy_token(&mut client, &mut funder, multicall));
        let kind = token.map_or(Kind::Native, Kind::Token);

        let senders: Vec<Wallet> = (0..SENDERS)
            .map(|n| Wallet::numbered(n, chain_id))
            .collect();
        fund(
            &mut client,
            &mut funder,
            multicall,
            kind,
            &senders,
            peer.manual,
        );

        client.call("evm_setAutomine", json!([false]));
        client.call("evm_setBlockGasLimit", json!([format!("{GAS:#x}")]));

        let mut miner = Self {
            server,
            senders,
            kind,
        };

        // The first block creates the recipients.
        miner.mine();
        miner
    }

    /// Mines a full block. Returns the number of its transactions, the milliseconds that it took
    /// and millions of gas per second.
    fn mine(&mut self) -> [f64; 3] {
        let work = Work {
            kind: self.kind,
            count: COUNT,
            stride: 1,
            manual: true,
        };
        each(&self.server, sign(&mut self.senders, work));
        let mut client = self.server.client();
        let began = Instant::now();
        client.call("evm_mine", json!([]));
        let seconds = began.elapsed().as_secs_f64();
        let count = client.number("eth_getBlockTransactionCountByNumber", json!(["latest"]));
        let block = client.call("eth_getBlockByNumber", json!(["latest", false]));
        let used = u64::from_str_radix(
            block["gasUsed"].as_str().unwrap().trim_start_matches("0x"),
            16,
        )
        .unwrap();
        assert!(used > GAS - 100_000, "the block uses only {used} gas");
        // Includes what did not fit, and lets the base fee fall again.
        client.call("anvil_mine", json!(["0x8"]));
        [count as f64, seconds * 1e3, used as f64 / 1e6 / seconds]
    }
}
