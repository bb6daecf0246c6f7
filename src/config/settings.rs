//! Every setting: its name, what it takes, and what it is for.
//!
//! A setting has the same name everywhere: `rpc.gas-cap` is `gas-cap` in the table `[rpc]` of the file, the variable
//! `TETRAD_RPC_GAS_CAP` and the flag `--rpc-gas-cap`.

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text of some form, which the placeholder names.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A switch.
    Switch,
    /// Several texts; separated by commas outside of the file.
    List,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The name, with the table in front.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What stands for the value in the help.
    pub placeholder: &'static str,
    /// What it is for.
    pub help: &'static str,
}

impl Setting {
    /// The flag's name, without dashes in front.
    pub fn flag(&self) -> String {
        self.name.replace('.', "-")
    }

    /// The environment variable.
    pub fn variable(&self) -> String {
        format!("TETRAD_{}", self.flag().replace('-', "_").to_ascii_uppercase())
    }
}

const fn setting(name: &'static str, kind: Kind, placeholder: &'static str, help: &'static str) -> Setting {
    Setting { name, kind, placeholder, help }
}

/// All settings, in the order of the help.
pub const SETTINGS: &[Setting] = &[
    setting(
        "profile",
        Kind::Text,
        "development|production",
        "Defaults to start from: development (funded accounts, development methods) or production (neither)",
    ),
    setting(
        "listen",
        Kind::Text,
        "ADDR:PORT",
        "Where everything is served: JSON-RPC, REST and WebSockets; port 0 picks a free one",
    ),
    setting(
        "ws-listen",
        Kind::Text,
        "ADDR:PORT|off",
        "Where the price WebSocket is served at any path, as on the live network",
    ),
    setting(
        "metrics-listen",
        Kind::Text,
        "ADDR:PORT|beside|off",
        "Where /metrics is served for Prometheus: on a listener of its own, beside everything else, or nowhere",
    ),
    setting("listen-unix", Kind::Text, "FILE", "Serve everything on this Unix socket besides"),
    setting(
        "cors-origins",
        Kind::List,
        "ORIGIN,…|*",
        "Origins of the web pages that may use the interfaces; * for all, an empty list for the node's own page only",
    ),
    setting(
        "allowed-hosts",
        Kind::List,
        "NAME,…|*",
        "Host names that requests may carry besides localhost and addresses, against DNS rebinding; * for all",
    ),
    setting("chain-id", Kind::Integer, "N", "EVM chain id; 125 on the live network"),
    setting(
        "block-time",
        Kind::Number,
        "SECONDS",
        "Seal a block every so many seconds; without it as soon as there is something to include",
    ),
    setting("no-mining", Kind::Switch, "", "Seal blocks on demand only (evm_mine)"),
    setting("gas-limit", Kind::Integer, "N", "Gas limit of new blocks"),
    setting(
        "hardfork",
        Kind::Text,
        "NAME",
        "Rules from the first block on; by default the newest fork that is live on mainnet",
    ),
    setting("mnemonic", Kind::Text, "WORDS", "Mnemonic of the development accounts"),
    setting("accounts", Kind::Integer, "N", "Number of development accounts"),
    setting("balance", Kind::Text, "N", "Balance of each development account in whole coins"),
    setting(
        "genesis",
        Kind::Text,
        "FILE",
        "Start from a genesis file in geth's format, without the network's contracts",
    ),
    setting("import", Kind::List, "FILE,…", "Import blocks (concatenated RLP) before serving, file by file"),
    setting(
        "import-continue",
        Kind::Switch,
        "",
        "Go on importing after a block that cannot follow: leave it out and keep the chain as it was before it",
    ),
    setting("data-dir", Kind::Text, "DIR", "Keep the chain in this directory; without it in memory"),
    setting(
        "durability",
        Kind::Text,
        "fsync|os",
        "What a data directory promises: fsync, nothing acknowledged is lost when the power fails; os, only when the \
         process ends",
    ),
    setting("seed", Kind::Integer, "N", "Seed of the price simulation"),
    setting(
        "ready-file",
        Kind::Text,
        "FILE",
        "Write the URLs and the process id here, as JSON, once everything listens",
    ),
    setting("quiet", Kind::Switch, "", "Print nothing but errors"),
    setting(
        "verbosity",
        Kind::Integer,
        "0-4",
        "How much is printed of transactions: 1 adds arguments (-v), 2 events, 3 calls of failed ones, 4 calls of all",
    ),
    setting("abi", Kind::List, "PATH,…", "Files and folders with ABIs of contracts, to name what they do"),
    setting("log-format", Kind::Text, "text|json", "Form of the log"),
    setting("log-level", Kind::Text, "FILTER", "What is logged: error, warn, info, debug, trace, or levels by module"),
    setting("slow-request", Kind::Number, "SECONDS", "Log requests that take longer; 0 for none"),
    setting(
        "traces.endpoint",
        Kind::Text,
        "URL",
        "OpenTelemetry collector that gets spans of requests and blocks (OTLP over HTTP), such as http://localhost:4318",
    ),
    setting(
        "traces.sample-ratio",
        Kind::Number,
        "0-1",
        "How many of the traces that begin here are recorded; a request with a traceparent follows its sender",
    ),
    setting(
        "fork.url",
        Kind::Text,
        "URL",
        "Begin at a block of another node, whose JSON-RPC is here, instead of with a first block of one's own",
    ),
    setting("fork.block", Kind::Integer, "N", "The block to fork; by default the other node's newest"),
    setting(
        "fork.headers",
        Kind::List,
        "NAME: VALUE,…",
        "Headers of every request to the origin of fork.url; other URLs that the node is told to fork get none",
    ),
    setting(
        "fork.timeout",
        Kind::Number,
        "SECONDS",
        "How long a question to it may take, with everything that is tried",
    ),
    setting("fork.retries", Kind::Integer, "N", "How often a question that failed is asked again"),
    setting(
        "fork.retry-backoff",
        Kind::Number,
        "SECONDS",
        "How long the first of these waits; each other one waits twice as long as the one before",
    ),
    setting("network.cosmos-chain-id", Kind::Text, "ID", "Chain id on the Cosmos side"),
    setting("network.bech32-prefix", Kind::Text, "PREFIX", "Human-readable prefix of bech32 addresses"),
    setting("network.coin", Kind::Text, "SYMBOL", "Symbol of the native coin"),
    setting("network.denomination", Kind::Text, "NAME", "Base denomination of the native coin, 18 decimals below it"),
    setting("network.account-type", Kind::Text, "URL", "Type of accounts in Cosmos queries"),
    setting("network.key-type", Kind::Text, "URL", "Type of public keys in Cosmos queries"),
    setting(
        "rpc.errors",
        Kind::Text,
        "network|ethereum",
        "Whose texts errors carry: the network's, or go-ethereum's; by default the latter with a genesis file or a fork",
    ),
    setting("rpc.max-body", Kind::Integer, "BYTES", "Largest request body"),
    setting("rpc.max-batch", Kind::Integer, "N", "Most requests in a batch"),
    setting("rpc.gas-cap", Kind::Integer, "GAS", "Most gas that a call or estimate may use"),
    setting(
        "rpc.execution-timeout",
        Kind::Number,
        "SECONDS",
        "How long a call, simulation or trace may take; by default a minute on a fork",
    ),
    setting("rpc.max-trace-megabytes", Kind::Integer, "N", "Largest answer with traces"),
    setting("rpc.max-dump-megabytes", Kind::Integer, "N", "Most memory that a dump of the chain takes, roughly"),
    setting("rpc.max-logs", Kind::Integer, "N", "Most logs that a query returns"),
    setting("rpc.max-filters", Kind::Integer, "N", "Most filters at a time"),
    setting("rpc.max-filters-per-client", Kind::Integer, "N", "Most filters of one client address at a time"),
    setting("rpc.max-subscriptions", Kind::Integer, "N", "Most subscriptions of one connection"),
    setting("exchange.price-tick", Kind::Number, "SECONDS", "How often prices move; 0 freezes them"),
    setting(
        "exchange.price-sources",
        Kind::List,
        "SOURCE,…",
        "Where prices come from, in order: simulation, replay:FILE, or URL#PATH of an upstream (http, https, ws, wss)",
    ),
    setting(
        "exchange.price-policy",
        Kind::Text,
        "fallback|median",
        "Which of several sources is believed: the first that knows a price, or the one in the middle",
    ),
    setting("exchange.upstream-interval", Kind::Number, "SECONDS", "How often an upstream is asked over HTTP"),
    setting("exchange.upstream-timeout", Kind::Number, "SECONDS", "How long an upstream may take to answer"),
    setting("exchange.upstream-retries", Kind::Integer, "N", "How often a question that failed is asked again at once"),
    setting(
        "exchange.upstream-max-age",
        Kind::Number,
        "SECONDS",
        "How old an upstream's price may be that is put on the chain",
    ),
    setting(
        "exchange.upstream-subscribe",
        Kind::Text,
        "TEXT",
        "What is sent to an upstream's WebSocket once it is open",
    ),
    setting(
        "exchange.upstream-ca-file",
        Kind::Text,
        "FILE",
        "Certificates (PEM) of authorities that upstreams may have besides the system's",
    ),
    setting("exchange.rate-limit", Kind::Integer, "N", "REST requests per minute and client address; 0 for no limit"),
    setting(
        "exchange.trusted-proxies",
        Kind::List,
        "CIDR,…",
        "Reverse proxies whose X-Forwarded-For or Forwarded header names the client",
    ),
    setting("exchange.max-sockets-per-client", Kind::Integer, "N", "Most price WebSockets of one client address"),
    setting("lending.rate-limit", Kind::Integer, "N", "REST requests per minute and client address; 0 for no limit"),
    setting("limits.connections", Kind::Integer, "N", "Most connections of each listener at a time"),
    setting(
        "limits.header-timeout",
        Kind::Number,
        "SECONDS",
        "How long a client may take to send the head of a request",
    ),
    setting("limits.transit-megabytes", Kind::Integer, "N", "Memory for long JSON-RPC requests and answers under way"),
    setting("limits.pool", Kind::Integer, "N", "Most transactions that wait for a block"),
    setting("limits.pool-per-account", Kind::Integer, "N", "Most transactions of one account that wait for a block"),
    setting(
        "limits.pool-megabytes",
        Kind::Integer,
        "N",
        "Most memory that transactions take that wait, with their blobs",
    ),
    setting(
        "limits.pool-per-account-megabytes",
        Kind::Integer,
        "N",
        "Most memory that those of one account take, with their blobs",
    ),
    setting(
        "limits.pool-lifetime",
        Kind::Number,
        "SECONDS",
        "How long a transaction waits for another nonce or a lower base fee while nothing happens to its account; 0 for \
         as long as there is room",
    ),
    setting(
        "limits.pool-min-tip",
        Kind::Integer,
        "WEI",
        "Least tip of a transaction, or gas price without one, in wei per gas",
    ),
    setting("limits.history-blocks", Kind::Integer, "N", "Most blocks whose receipts and states are held in memory"),
    setting("limits.history-megabytes", Kind::Integer, "N", "Most memory that they take, roughly"),
    setting(
        "limits.checkpoint-kilobytes",
        Kind::Integer,
        "N",
        "How much the log grows between two checkpoints of the state; a start reads up to about twice as much",
    ),
    setting(
        "tls.certificate-file",
        Kind::Text,
        "FILE",
        "Certificates (PEM, the server's own first) with which the listeners speak TLS; read again on SIGHUP",
    ),
    setting("tls.key-file", Kind::Text, "FILE", "Private key (PEM) of the certificate"),
    setting(
        "keys.treasury-file",
        Kind::Text,
        "FILE",
        "Private key, in hex, of the account that owns the contracts; by default derived or made anew",
    ),
    setting(
        "keys.updater-file",
        Kind::Text,
        "FILE",
        "Private key, in hex, of the account that updates prices; likewise",
    ),
    setting(
        "keys.keystore",
        Kind::Text,
        "DIR",
        "Directory of V3 keystore files whose accounts the node signs for when it is asked to",
    ),
    setting("keys.password-file", Kind::Text, "FILE", "The password of all of them"),
];
