//! The description of the node as a whole in `/openapi.json`.

use tetrad_web::ApiInfo;

/// The tags of all interfaces.
const TAGS: &[(&str, &str)] = &[
    (
        "Node",
        "The network's identity, probes for orchestrators, metrics.",
    ),
    (
        "Exchange",
        "Prices of the on-chain oracle, quotes of the vault, and prices as they change over WebSocket.",
    ),
    (
        "Lending",
        "Pools, positions and credit scores, read from the lending pool. Rates are in per cent a year.",
    ),
    (
        "Activity",
        "Swaps, deposits, loans and liquidations, decoded from logs.",
    ),
    (
        "Explorer",
        "Histories: Blockscout's REST API v2, Etherscan's interface, and Sourcify's API v2 for verified sources.",
    ),
    ("Faucet", "Coins and tokens on request, within limits."),
    (
        "Cosmos",
        "The REST gateway of a Cosmos node, over the same accounts, and a part of CometBFT's interface.",
    ),
    (
        "JSON-RPC",
        "Ethereum's JSON-RPC, over HTTP and WebSocket. `rpc.discover` describes its methods.",
    ),
    (
        "Beacon",
        "The blobs of blocks, at the routes of consensus clients.",
    ),
    (
        "GraphQL",
        "Blocks, transactions, logs and calls in one query, with geth's schema.",
    ),
    (
        "Development",
        "Prices set by hand, and scenarios. They change the network: production requires the admin token.",
    ),
];

const DESCRIPTION: &str = "The REST interfaces of a tetrad node: exchange, lending, accounts and explorer over one EVM \
                           state.\n\nErrors have a JSON body, which names the parameter that is wrong. \
                           Methods of JSON-RPC are described by `rpc.discover`, as an OpenRPC document.";

/// Returns the parts of the document that do not follow from the routes.
pub(super) const fn info(token_required: bool) -> ApiInfo {
    ApiInfo {
        title: "tetrad",
        description: DESCRIPTION,
        tags: TAGS,
        examples: include_str!("openapi-examples.jsonl"),
        token_required,
    }
}
