//! The cost of reads on a node of the cluster.

use alloy::sol_types::SolCall;
use serde_json::json;
use tetrad_contracts::contracts::bindings::Token;

use super::{
    Effort,
    fixture::{Cluster, NODES, Prepared, Single},
    shared::{
        client::Request,
        load::{Measured, expect_accepted, repeat},
        report,
        server::Server,
    },
};

pub(crate) fn run(effort: Effort) {
    let single = Single::start();
    let alone = Prepared::on(&single.server);
    let cluster = Cluster::start();
    let leader = cluster.leader();
    let prepared = Prepared::on(cluster.node(leader));
    cluster.settle();
    let follower = (leader + 1) % NODES;

    let columns = [
        "Read",
        "Node",
        "µs each",
        "of the single node's",
        "per second",
        "of the single node's",
    ];
    report::table("Reads, over 16 connections", &columns);

    for (name, request) in [
        ("eth_getBalance", balance as fn(&Prepared) -> Request),
        ("eth_call, balanceOf", call),
    ] {
        let nodes: [(&str, &Server, Request); 3] = [
            ("single node", &single.server, request(&alone)),
            ("leader", cluster.node(leader), request(&prepared)),
            ("follower", cluster.node(follower), request(&prepared)),
        ];

        let mut runs: [Vec<Measured>; 3] = Default::default();
        for _ in 0..effort.rounds {
            for ((_, server, request), runs) in nodes.iter().zip(&mut runs) {
                expect_accepted(server.client().exchange(request).unwrap());
                runs.push(repeat(server, request, effort.time));
            }
        }

        for ((node, ..), measured) in nodes.iter().zip(&runs) {
            let cpu: fn(&Measured) -> f64 = |run| run.cpu;
            let rate: fn(&Measured) -> f64 = |run| run.per_second;
            report::row(&[
                name.to_owned(),
                (*node).to_owned(),
                report::spread(&values(measured, cpu)),
                report::ratio(&values(measured, cpu), &values(&runs[0], cpu)),
                report::spread(&values(measured, rate)),
                report::ratio(&values(measured, rate), &values(&runs[0], rate)),
            ]);
        }
    }

    report::end();
}

fn values(runs: &[Measured], value: fn(&Measured) -> f64) -> Vec<f64> {
    runs.iter().map(value).collect()
}

fn balance(on: &Prepared) -> Request {
    Request::rpc("eth_getBalance", &json!([on.funder.address(), "latest"]))
}

fn call(on: &Prepared) -> Request {
    let input = Token::balanceOfCall {
        account: on.funder.address(),
    }
    .abi_encode();
    Request::rpc(
        "eth_call",
        &json!([{"to": on.token, "data": alloy::hex::encode_prefixed(input)}, "latest"]),
    )
}
