//! The precedence of layers, and the errors for invalid values.

use tetrad::{
    Config,
    config::{BlockTimestamps, MetricsAt, ValueOrigin, Values, settings},
};
use tetrad_rpc::rpc::Dialect;

fn from_file(text: &str) -> Result<Config, String> {
    let mut values = Values::default();
    values
        .read_text(text, "x.toml")
        .and_then(|()| Config::from_values(&values))
        .map_err(|error| error.to_string())
}

fn from_variables(variables: &[(&str, &str)]) -> Result<Config, String> {
    let mut values = Values::default();
    let variables = variables
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()));
    values
        .read_environment(variables)
        .and_then(|()| Config::from_values(&values))
        .map_err(|error| error.to_string())
}

fn flag(values: &mut Values, name: &str, text: &str) -> Result<(), String> {
    let setting = settings().find(|setting| setting.name == name).unwrap();
    values
        .read(setting, text, ValueOrigin::Flag(setting.flag()))
        .map_err(|error| error.to_string())
}

#[test]
fn flags_override_the_environment_and_the_environment_the_file() {
    let mut values = Values::default();
    values
        .read_text(
            "chain-id = 1\nseed = 1\naccounts = 1\n[rpc]\nmax-batch = 1",
            "x.toml",
        )
        .unwrap();

    let environment = [
        ("TETRAD_CHAIN_ID", "2"),
        ("TETRAD_SEED", "2"),
        ("TETRAD_RPC_MAX_BATCH", "2"),
        ("HOME", "/"),
    ];
    values
        .read_environment(
            environment
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
                .into_iter(),
        )
        .unwrap();

    flag(&mut values, "chain-id", "3").unwrap();
    let config = Config::from_values(&values).unwrap();
    assert_eq!(
        (
            config.chain_id,
            config.seed,
            config.accounts,
            config.rpc.max_batch
        ),
        (3, 2, 1, 2)
    );
}

#[test]
fn a_setting_can_still_be_set_by_its_former_name() {
    let dialect = |config: Result<Config, String>| config.unwrap().rpc.dialect;

    for file in [
        "[rpc]\ndialect = \"ethereum\"",
        "[rpc]\nerrors = \"ethereum\"",
    ] {
        assert_eq!(dialect(from_file(file)), Dialect::Ethereum, "{file}");
    }

    for variable in ["TETRAD_RPC_DIALECT", "TETRAD_RPC_ERRORS"] {
        assert_eq!(
            dialect(from_variables(&[(variable, "ethereum")])),
            Dialect::Ethereum,
            "{variable}"
        );
    }

    // The present name wins in every layer, and errors give the name that was used.
    assert_eq!(
        dialect(from_file(
            "[rpc]\nerrors = \"network\"\ndialect = \"ethereum\""
        )),
        Dialect::Ethereum
    );
    let present = ("TETRAD_RPC_DIALECT", "ethereum");
    let former = ("TETRAD_RPC_ERRORS", "network");
    for variables in [[present, former], [former, present]] {
        assert_eq!(dialect(from_variables(&variables)), Dialect::Ethereum);
    }

    let error = from_file("[rpc]\nerrors = \"geth\"").unwrap_err();
    assert_eq!(
        error,
        "rpc.errors in x.toml: expected network or ethereum, got `geth`"
    );

    // An empty former name matches no setting.
    let error = from_file("\"\" = 1").unwrap_err();
    assert!(
        error.starts_with("config x.toml: unknown key ``"),
        "{error}"
    );
}

/// Whether a file's chain caps the gas of a transaction, and the timestamps of its blocks.
fn rules(text: &str) -> (bool, BlockTimestamps) {
    let config = from_file(text).unwrap();
    (config.caps_transaction_gas(), config.block_timestamps())
}

#[test]
fn a_genesis_file_implies_ethereums_rules_unless_configured_otherwise() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let genesis = format!("genesis = {:?}", file.path());

    assert_eq!(rules(""), (false, BlockTimestamps::Shared));
    assert_eq!(
        rules("profile = \"production\""),
        (true, BlockTimestamps::Shared)
    );
    // A file may list the defaults, as the shipped ones do.
    let listed = format!("{genesis}\nenable-tx-gas-limit = false\nblock-timestamps = \"shared\"");
    for text in [&genesis, &listed] {
        assert_eq!(rules(text), (true, BlockTimestamps::Increasing));
    }
    assert_eq!(
        rules("enable-tx-gas-limit = true\nblock-timestamps = \"increasing\""),
        (true, BlockTimestamps::Increasing)
    );
    let mut values = Values::default();
    values.read_text(&genesis, "x.toml").unwrap();
    flag(&mut values, "block-timestamps", "shared").unwrap();
    let error = Config::from_values(&values).unwrap_err().to_string();
    assert!(
        error.contains("a chain from a genesis file has Ethereum's rules"),
        "{error}"
    );
}

#[test]
fn an_unknown_key_is_named_with_the_closest_known_one() {
    for (text, expected) in [
        (
            "chainid = 5",
            "config x.toml: unknown key `chainid`; did you mean `chain-id`?",
        ),
        ("nonsense = 5", "config x.toml: unknown key `nonsense`"),
        (
            "[rpc]\ngas-cop = 5",
            "config x.toml: unknown key `rpc.gas-cop`; did you mean `rpc.gas-cap`?",
        ),
        (
            "cluster = []",
            "config x.toml: unknown key `cluster`; did you mean `cluster.servers`?",
        ),
        (
            "node-name = \"a\"",
            "config x.toml: unknown key `node-name`; did you mean `cluster.node-name`?",
        ),
        ("[nope]\nx = 5", "config x.toml: unknown key `nope.x`"),
    ] {
        assert_eq!(from_file(text).unwrap_err(), expected);
    }
}

/// The warnings of variables with these names.
fn warnings(names: &[&str]) -> Vec<String> {
    let mut values = Values::default();
    values
        .read_environment(
            names
                .iter()
                .map(|name| ((*name).to_owned(), "tcp://10.0.0.7:8545".to_owned())),
        )
        .unwrap();
    Config::from_values(&values).unwrap();
    values.warnings().to_vec()
}

#[test]
fn unknown_variables_cause_warnings_unless_an_orchestrator_sets_them() {
    // A service called tetrad, one called tetrad-dev, and a named port.
    let links = [
        "TETRAD_PORT",
        "TETRAD_SERVICE_HOST",
        "TETRAD_SERVICE_PORT",
        "TETRAD_SERVICE_PORT_JSON_RPC",
        "TETRAD_PORT_8545_TCP",
        "TETRAD_PORT_8545_TCP_PROTO",
        "TETRAD_PORT_8545_TCP_PORT",
        "TETRAD_PORT_8545_TCP_ADDR",
        "TETRAD_PORT_53_UDP_ADDR",
        "TETRAD_DEV_PORT",
        "TETRAD_DEV_SERVICE_HOST",
        "TETRAD_DEV_PORT_3001_TCP_ADDR",
    ];
    assert_eq!(warnings(&links), Vec::<String>::new());

    for (name, expected) in [
        (
            "TETRAD_NOWHERE",
            "unknown environment variable TETRAD_NOWHERE",
        ),
        (
            "TETRAD_LISSTEN",
            "unknown environment variable TETRAD_LISSTEN; did you mean `TETRAD_LISTEN`?",
        ),
        (
            "TETRAD_PORTS",
            "unknown environment variable TETRAD_PORTS; did you mean `TETRAD_IMPORT`?",
        ),
        (
            "TETRAD_PORT_X_TCP",
            "unknown environment variable TETRAD_PORT_X_TCP",
        ),
        (
            "TETRAD_PORT_1_TCP_KIND",
            "unknown environment variable TETRAD_PORT_1_TCP_KIND",
        ),
        (
            "TETRAD_SERVICE",
            "unknown environment variable TETRAD_SERVICE",
        ),
    ] {
        assert_eq!(warnings(&[name]), [expected]);
    }
}

#[test]
fn an_invalid_value_is_named_with_its_origin() {
    for (text, expected) in [
        (
            "chain-id = \"x\"",
            "chain-id in x.toml: expected a whole number, got string",
        ),
        (
            "chain-id = 0",
            "chain-id in x.toml: expected 1 to 9223372036854775807, got 0",
        ),
        (
            "listen = \"here\"",
            "listen in x.toml: expected an address and port, such as 127.0.0.1:8545, got `here` (invalid socket address syntax)",
        ),
        (
            "profile = \"staging\"",
            "profile in x.toml: expected development or production, got `staging`",
        ),
        (
            "quiet = 1",
            "quiet in x.toml: expected true or false, got integer",
        ),
        (
            "block-time = -1",
            "block-time in x.toml: expected 0.001 to 86400 seconds, got -1",
        ),
        (
            "balance = \"much\"",
            "balance in x.toml: expected an amount of coins, got `much`",
        ),
        (
            "[exchange]\ntrusted-proxies = [\"10.0.0.0/33\"]",
            "exchange.trusted-proxies in x.toml: expected addresses such as 10.0.0.0/8, got `10.0.0.0/33`",
        ),
        (
            "[exchange]\nprice-sources = [\"simulation\", \"oracle\"]",
            "exchange.price-sources in x.toml: expected simulation, replay:FILE, or a URL",
        ),
        (
            "[exchange]\nprice-policy = \"mean\"",
            "exchange.price-policy in x.toml: expected fallback or median, got `mean`",
        ),
        (
            "[network]\nbech32-prefix = \"P!\"",
            "network.bech32-prefix in x.toml: ",
        ),
        ("mnemonic = \"test test\"", "mnemonic in x.toml: "),
        (
            "hardfork = \"nope\"",
            "hardfork in x.toml: expected the name of a hardfork, got `nope` (unknown hardfork `nope`",
        ),
        (
            "profile = \"production\"\naccounts = 1",
            "accounts: the production profile holds no keys; leave it out",
        ),
        (
            "ws-listen = \"127.0.0.1:8545\"",
            "ws-listen: the same address as listen; choose another port, or off",
        ),
        ("x = [", "config x.toml: "),
    ] {
        let error = from_file(text).unwrap_err();
        assert!(error.starts_with(expected), "{text}: {error}");
    }

    assert_eq!(
        from_variables(&[("TETRAD_CHAIN_ID", "x")]).unwrap_err(),
        "TETRAD_CHAIN_ID: expected a whole number, got `x`"
    );

    let mut values = Values::default();
    assert_eq!(
        flag(&mut values, "quiet", "maybe").unwrap_err(),
        "--quiet: expected true or false, got `maybe`"
    );
}

#[test]
fn values_are_applied_to_the_configuration() {
    let config = from_file(
        "ws-listen = \"off\"\nblock-time = 0.3\nbalance = \"1.5\"\nhardfork = \"Prague\"\n[exchange]\nprice-tick = 0\ntrusted-proxies = [\"10.0.0.0/8\", \"::1\"]",
    )
    .unwrap();
    assert_eq!(config.ws_listen, None);
    assert_eq!(
        config.block_time,
        Some(std::time::Duration::from_millis(300))
    );
    assert_eq!(
        config.balance,
        alloy::primitives::utils::parse_ether("1.5").unwrap()
    );
    assert_eq!(config.hardfork, tetrad_evm::Fork::Prague);
    assert_eq!(config.exchange.price_tick, None);
    assert_eq!(config.trusted_proxies.len(), 2);
}

#[test]
fn each_setting_is_read_from_its_variable() {
    for setting in settings() {
        let shown = setting.value(&Config::default());
        let Some(value) = shown else { continue };

        let text = match &value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Array(_) if setting.name == "fork.headers" => "x-key: secret".to_owned(),
            toml::Value::Array(_) if setting.name == "fork.others" => "http://localhost".to_owned(),
            toml::Value::Array(_) if setting.name == "cluster.servers" => {
                "tls://nats.example.org".to_owned()
            }
            toml::Value::Array(_) if setting.name == "allowed-hosts" => {
                "node.example.org".to_owned()
            }
            toml::Value::Array(_) if setting.name == "also-listen" => "127.0.0.1:1".to_owned(),
            toml::Value::Array(_) if setting.name == "page.media-origins" => "https:".to_owned(),
            toml::Value::Array(items) if items.is_empty() => "10.0.0.0/8".to_owned(),
            toml::Value::Array(items) => items
                .iter()
                .filter_map(toml::Value::as_str)
                .collect::<Vec<_>>()
                .join(","),
            other => other.to_string(),
        };

        let variable = setting.variable();
        let mut variables = vec![(variable.as_str(), text.as_str())];
        // They require another node's URL.
        if ["fork.headers", "fork.others"].contains(&setting.name) {
            variables.push(("TETRAD_FORK_URL", "http://localhost"));
        }
        if setting.name == "cluster.servers" {
            variables.push(("TETRAD_DATA_DIR", "data"));
        }

        from_variables(&variables).unwrap_or_else(|error| panic!("{}: {error}", setting.name));
    }
}

#[test]
fn numbers_and_addresses_have_the_same_forms_in_every_layer() {
    let loopback = |port: u16| std::net::SocketAddr::from(([127, 0, 0, 1], port));

    for (text, port) in [
        ("localhost:9545", 9545),
        (":9545", 9545),
        ("9545", 9545),
        ("127.0.0.1:7", 7),
    ] {
        assert_eq!(
            from_file(&format!("listen = \"{text}\"")).unwrap().listen,
            loopback(port)
        );
        assert_eq!(
            from_variables(&[("TETRAD_LISTEN", text)]).unwrap().listen,
            loopback(port)
        );
        assert_eq!(
            from_variables(&[("TETRAD_METRICS_LISTEN", text)])
                .unwrap()
                .metrics,
            MetricsAt::Own(loopback(port))
        );
        assert_eq!(
            from_variables(&[("TETRAD_GRPC_LISTEN", text)])
                .unwrap()
                .grpc_listen,
            Some(loopback(port))
        );
    }

    assert_eq!(from_file("listen = 9545").unwrap().listen, loopback(9545));
    for text in ["chain-id = 0x7e", "chain-id = \"0x7e\"", "chain-id = 126"] {
        assert_eq!(from_file(text).unwrap().chain_id, 126);
    }

    assert_eq!(
        from_variables(&[("TETRAD_CHAIN_ID", "0x7e")])
            .unwrap()
            .chain_id,
        126
    );

    assert_eq!(
        from_file("chain-id = \"x\"").unwrap_err(),
        "chain-id in x.toml: expected a whole number, got string"
    );

    let error = from_variables(&[("TETRAD_LISTEN", "example.org:80")]).unwrap_err();
    assert!(
        error.starts_with("TETRAD_LISTEN: expected an address and port, such as 127.0.0.1:8545"),
        "{error}"
    );
}

#[test]
fn contradictory_settings_are_rejected_with_both_names() {
    let genesis = "genesis = \"genesis.json\"\n";

    for (text, expected) in [
        (
            "no-mining = true\nblock-time = 2",
            "no-mining in x.toml cannot be combined with block-time in x.toml: ",
        ),
        (
            "quiet = true\nverbosity = 2",
            "quiet in x.toml cannot be combined with verbosity in x.toml: ",
        ),
        (
            "no-explorer = true\nsolc-directory = \"s\"",
            "solc-directory in x.toml cannot be combined with no-explorer in ",
        ),
        (
            &*format!("{genesis}balance = \"5\""),
            "balance: the genesis file decides what accounts have",
        ),
        (
            "profile = \"production\"\nno-mining = true",
            "no-mining: the production profile has no methods",
        ),
    ] {
        let error = from_file(text).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }

    // In whichever layers they are set.
    let mut values = Values::default();
    values.read_text("block-time = 2", "x.toml").unwrap();
    flag(&mut values, "no-mining", "true").unwrap();
    let error = Config::from_values(&values).unwrap_err().to_string();
    assert!(
        error.starts_with("--no-mining cannot be combined with block-time in x.toml: "),
        "{error}"
    );

    let error =
        from_variables(&[("TETRAD_NO_MINING", "1"), ("TETRAD_BLOCK_TIME", "1")]).unwrap_err();
    assert!(
        error.starts_with("TETRAD_NO_MINING cannot be combined with TETRAD_BLOCK_TIME: "),
        "{error}"
    );

    // A value without effect contradicts nothing.
    for text in [
        "no-mining = false\nblock-time = 2",
        "quiet = true\nverbosity = 0",
    ] {
        from_file(text).unwrap();
    }
    from_file(&format!("{genesis}balance = \"10000\"")).unwrap();
}

#[test]
fn a_hardfork_too_old_for_the_networks_contracts_is_rejected_with_advice() {
    for old in ["berlin", "shanghai"] {
        let error = from_file(&format!("hardfork = \"{old}\"")).unwrap_err();
        assert_eq!(
            error,
            format!(
                "hardfork: the network's contracts do not run under {old}; choose cancun or a later hardfork, or begin \
                 without the contracts by setting bare"
            )
        );
        from_file(&format!("hardfork = \"{old}\"\nbare = true")).unwrap();
    }
    for new in ["cancun", "bpo2"] {
        from_file(&format!("hardfork = \"{new}\"")).unwrap();
    }
}

#[test]
fn only_a_configured_address_of_the_second_price_websocket_is_required() {
    let required = |text: &str| from_file(text).unwrap().ws_listen_required;
    assert!(!required("") && !required("ws-listen = \"127.0.0.1:3001\""));
    assert!(required("ws-listen = \"127.0.0.1:3002\"") && required("profile = \"production\""));
    assert!(
        from_variables(&[("TETRAD_WS_LISTEN", "127.0.0.1:3001")])
            .unwrap()
            .ws_listen_required
    );
}
