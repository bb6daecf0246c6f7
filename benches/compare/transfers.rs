//! Transfers, from the raw transaction over HTTP to the block: throughput, CPU time and memory.

use std::time::{Duration, Instant};

use alloy::{
    primitives::{Address, TxKind, U256},
    sol_types::SolCall,
};
use serde_json::json;
use tetrad_contracts::contracts::bindings::Token;

use super::{
    Effort,
    client::{Client, Request},
    contracts::{deploy_multicall, deploy_token, many, mint_call},
    load::{CONNECTIONS, Measured, each, in_turns},
    peers::{self, Peer},
    report,
    server::Server,
    wallet::{Wallet, address_at},
};

const COUNT: u64 = 20_000;
/// Number of senders.
pub(crate) const SENDERS: u64 = 128;
/// Number of recipients.
pub(crate) const RECIPIENTS: u64 = 1_000;
const COIN: u64 = 1_000_000_000_000_000_000;

/// The asset that is transferred.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Native,
    Token(Address),
}

/// A series of transfers.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    pub kind: Kind,
    pub count: u64,
    /// Step between the indexes of recipients in [`address_at`].
    pub stride: u64,
    /// Whether the block has to be requested.
    pub manual: bool,
}

pub(crate) fn run(effort: Effort) {
    let mut peers: Vec<Peer> = peers::builds("0")
        .into_iter()
        .chain(peers::anvil())
        .chain(peers::anvil_best())
        .collect();
    let names: Vec<&str> = peers.iter().map(|peer| peer.name).collect();
    let columns = [
        "Transfers, submitted one by one",
        "Node",
        "per second",
        "µs each",
        "MB idle",
        "MB after 20,000",
    ];
    report::table("Transactions", &columns);
    for tokens in [false, true] {
        let runs = in_turns(effort.rounds, &mut peers, |peer| {
            let server = Server::start(&peer.command);
            let idle = server.memory();
            let measured = blast(&server, peer, tokens);
            [measured.per_second, measured.cpu, idle, server.memory()]
        });
        report::rows(&[if tokens { "ERC-20" } else { "native" }], &names, &runs);
    }
    report::end();
}

/// Throughput of a freshly started node.
pub(crate) fn blast(server: &Server, peer: &Peer, tokens: bool) -> Measured {
    let mut client = server.client();
    let chain_id = client.number("eth_chainId", json!([]));
    let mut funder = Wallet::development(0, chain_id);
    let multicall = deploy_multicall(&mut client, &mut funder);
    let token = tokens.then(|| deploy_token(&mut client, &mut funder, multicall));
    let kind = token.map_or(Kind::Native, Kind::Token);
    let mut senders: Vec<Wallet> = (0..SENDERS)
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
    submit(
        server,
        &mut client,
        &mut senders,
        Work {
            kind,
            count: COUNT,
            stride: 1,
            manual: peer.manual,
        },
    )
}

/// Funds every sender with coins and, for token transfers, with tokens.
pub(crate) fn fund(
    client: &mut Client,
    funder: &mut Wallet,
    multicall: Address,
    kind: Kind,
    senders: &[Wallet],
    manual: bool,
) {
    let mut send = |value: u128, input: alloy::primitives::Bytes| {
        let raw = funder.sign(TxKind::Call(multicall), value, input, 15_000_000);
        let hash = client.call("eth_sendRawTransaction", json!([raw]));
        if manual {
            client.call("evm_mine", json!([]));
        }
        client.receipt(&hash);
    };
    let (value, input) = many(
        senders
            .iter()
            .map(|sender| (sender.address(), Default::default())),
        COIN,
    );
    send(value, input);
    if let Kind::Token(token) = kind {
        let calls = senders
            .iter()
            .map(|sender| (token, mint_call(sender.address(), 1_000_000)));
        let (value, input) = many(calls, 0);
        send(value, input);
    }
}

/// Signs transfers, for each connection its share of them.
pub(crate) fn sign(senders: &mut [Wallet], work: Work) -> Vec<Vec<Request>> {
    let mut shares: Vec<Vec<Request>> = (0..CONNECTIONS).map(|_| Vec::new()).collect();
    let lanes = senders.len();
    for n in 0..work.count {
        let to = address_at(n % RECIPIENTS * work.stride);
        // A sender's transactions stay on one connection, and thereby in order.
        let lane = n as usize % lanes;
        let raw = match work.kind {
            Kind::Native => senders[lane].sign(TxKind::Call(to), 1, Vec::new(), 21_000),
            Kind::Token(token) => {
                let input = Token::transferCall {
                    to,
                    value: U256::from(1),
                }
                .abi_encode();
                senders[lane].sign(TxKind::Call(token), 0, input, 60_000)
            }
        };
        shares[lane % CONNECTIONS].push(Request::rpc("eth_sendRawTransaction", &json!([raw])));
    }
    shares
}

/// Sends transfers over all connections and waits until the last is mined.
pub(crate) fn submit(
    server: &Server,
    client: &mut Client,
    senders: &mut [Wallet],
    work: Work,
) -> Measured {
    let shares = sign(senders, work);
    let sent: Vec<(Address, u64)> = senders
        .iter()
        .map(|sender| (sender.address(), sender.nonce()))
        .collect();
    let cpu = server.cpu();
    let began = Instant::now();
    each(server, shares);
    // The node closes idle connections, and this one was idle meanwhile.
    *client = server.client();
    if work.manual {
        client.call("evm_mine", json!([]));
    }
    for (address, nonce) in sent {
        while client.number("eth_getTransactionCount", json!([address, "latest"])) < nonce {
            assert!(
                began.elapsed() < Duration::from_secs(300),
                "a transaction of {address} is not included"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    Measured::of(work.count, began.elapsed(), server.cpu() - cpu)
}
