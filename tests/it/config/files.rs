//! The shipped configuration files and the registry of settings.

use tetrad::{
    Config,
    config::{Kind, Profile, SECTIONS, Setting, Values, settings},
};
use toml::Value;

fn shipped() -> [(Profile, &'static str); 2] {
    [
        (
            Profile::Development,
            include_str!("../../../config/development.toml"),
        ),
        (
            Profile::Production,
            include_str!("../../../config/production.toml"),
        ),
    ]
}

#[test]
fn shipped_files_show_every_setting_with_its_default() {
    for (profile, text) in shipped() {
        let mut values = Values::default();
        values.read_text(text, "shipped.toml").unwrap();
        let read = Config::from_values(&values).unwrap();
        let defaults = Config::of(profile);
        assert_eq!(read.profile, profile);
        for setting in settings() {
            let key = setting.name.rsplit('.').next().unwrap();
            assert!(
                text.lines().any(|line| line
                    .trim_start_matches("# ")
                    .starts_with(&format!("{key} = "))),
                "{} is not in the file",
                setting.name
            );
            assert_eq!(
                setting.value(&read),
                setting.value(&defaults),
                "{}",
                setting.name
            );
            assert_eq!(
                values.given(setting).is_some(),
                setting.value(&defaults).is_some(),
                "{}",
                setting.name
            );
        }
    }
}

#[test]
fn every_setting_has_a_value_that_can_be_shown() {
    // An entry without `show` would be missing from `tetrad config` unnoticed.
    let unset = [
        "block-time",
        "genesis",
        "genesis-time",
        "genesis-base-fee",
        "state",
        "load-state",
        "dump-state",
        "data-dir",
        "scenario",
        "solc-directory",
        "artifacts",
        "admin-token-file",
        "ready-file",
        "listen-unix",
        "limits.block-transactions",
        "traces.endpoint",
        "fork.url",
        "fork.requests-per-second",
        "fork.compute-units-per-second",
        "cluster.replicas",
        "cluster.credentials-file",
        "cluster.tls-ca-file",
        "cluster.tls-cert-file",
        "cluster.tls-key-file",
        "cluster.node-name",
        "tls.certificate-file",
        "tls.key-file",
        "exchange.upstream-subscribe",
        "exchange.upstream-ca-file",
        "page.ipfs-gateway",
        "keys.treasury-file",
        "keys.keystore",
        "keys.password-file",
        "keys.updater-file",
    ];

    for setting in settings() {
        let shown = setting.value(&Config::default()).is_some();
        assert_eq!(shown, !unset.contains(&setting.name), "{}", setting.name);
    }
}

/// A value other than the default, as TOML: the default's neighbour, the last choice, or the
/// example.
fn another_value(setting: &Setting) -> String {
    let number = |number: f64| if number == 0.0 { 1.0 } else { number / 2.0 };

    match (setting.value(&Config::default()), setting.kind) {
        (Some(Value::Integer(value)), _) => (value + 1).to_string(),
        (Some(Value::Float(value)), _) => format!("{:?}", number(value)),
        (Some(Value::Boolean(value)), _) => (!value).to_string(),

        (Some(_), Kind::List) => match setting.name {
            "allowed-hosts" | "import" | "abi" => "[\"one\", \"two\"]",
            "also-listen" => "[\"127.0.0.1:1\", \"127.0.0.2:1\"]",
            "cluster.servers" => "[\"nats://10.0.0.1:4222\", \"tls://nats.example.org\"]",
            "cors-origins" => "[\"https://dapp.example\"]",
            "exchange.price-sources" => "[\"replay:config/prices.csv\", \"simulation\"]",
            "fork.others" => "[\"https://rpc.example.org/\", \"http://localhost:8545/\"]",
            "exchange.trusted-proxies" => "[\"10.0.0.0/8\"]",
            "page.media-origins" => "[\"https:\", \"http://127.0.0.1:8080\"]",
            _ => "[\"name: value\"]",
        }
        .to_owned(),

        (Some(_), _) => match setting.name {
            "listen" | "comet-listen" | "cosmos-rest-listen" | "grpc-listen" => {
                "\"127.0.0.1:1\"".to_owned()
            }
            "hardfork" => "\"prague\"".to_owned(),
            "mnemonic" => {
                format!("\"{}about\"", "abandon ".repeat(11))
            }
            "derivation-path" => "\"m/1'/2\"".to_owned(),
            "balance" => "\"1.5\"".to_owned(),
            "fork.block" => "\"-5\"".to_owned(),
            _ if setting.placeholder.contains('|') => {
                format!("{:?}", setting.placeholder.rsplit('|').next().unwrap())
            }
            _ => "\"other\"".to_owned(),
        },

        (None, _) => setting.example.replace('_', ""),
    }
}

/// The line of a file that sets a setting, in its section.
fn assignment(name: &str, value: &str) -> String {
    match name.split_once('.') {
        Some((section, key)) => format!("[{section}]\n{key} = {value}\n"),
        None => format!("{name} = {value}\n"),
    }
}

#[test]
fn every_setting_shows_the_value_that_was_read() {
    for setting in settings() {
        let value = another_value(setting);

        // Settings that others of their table require.
        let company = match setting.name {
            "fork.block"
            | "fork.compute-units-per-second"
            | "fork.headers"
            | "fork.others"
            | "fork.requests-per-second" => "url = \"http://localhost/\"\n",
            "tls.certificate-file" => "key-file = \"key.pem\"\n",
            "tls.key-file" => "certificate-file = \"cert.pem\"\n",
            "mixed-mining" => "block-time = 1\n",
            _ => "",
        };

        let company = match setting.name {
            "cluster.servers" => "",
            "cluster.tls-cert-file" => {
                "tls-key-file = \"key.pem\"\nservers = [\"tls://localhost\"]\n"
            }
            "cluster.tls-key-file" => {
                "tls-cert-file = \"cert.pem\"\nservers = [\"tls://localhost\"]\n"
            }
            _ if setting.section() == "cluster" => "servers = [\"tls://localhost\"]\n",
            _ => company,
        };

        let before = if setting.section() == "cluster" {
            "data-dir = \"data\"\n"
        } else {
            ""
        };
        let text = before.to_owned() + &assignment(setting.name, &value) + company;

        let mut values = Values::default();
        values.read_text(&text, "x.toml").unwrap();
        let config = Config::from_values(&values).unwrap_or_else(|error| panic!("{text}: {error}"));
        let read = values.given(setting).unwrap().value;
        let shown = setting.value(&config).unwrap();

        assert_ne!(
            Some(&shown),
            setting.value(&Config::default()).as_ref(),
            "{text}"
        );

        match setting.name {
            // The shown value is completed.
            "fork.url" | "traces.endpoint" => {
                assert!(
                    shown.as_str().unwrap().starts_with(read.as_str().unwrap()),
                    "{shown}"
                );
            }
            _ => assert_eq!(&shown, read, "{text}"),
        }
    }
}

#[test]
fn every_setting_is_documented_in_its_section() {
    for section in SECTIONS {
        for setting in section.settings {
            assert_eq!(setting.section(), section.name, "{}", setting.name);
            assert!(
                !setting.help.is_empty() && !setting.help.ends_with('.'),
                "{}",
                setting.name
            );
            assert_eq!(
                setting.placeholder.is_empty(),
                setting.kind == Kind::Switch,
                "{}",
                setting.name
            );
        }
    }
    let names: std::collections::BTreeSet<_> = settings().map(|setting| setting.name).collect();
    assert_eq!(names.len(), settings().count());
}
