//! The settings of `[network]`.

use tetrad_network::account::Hrp;

use crate::config::{
    setting::{Section, Setting},
    show,
};

pub(super) const SECTION: Section = Section {
    name: "network",
    about: "The network that is mirrored. The defaults are the live network's.",
    settings: &[
        Setting {
            name: "network.cosmos-chain-id",
            placeholder: "ID",
            help: "Cosmos chain id",
            read: |config, given| given.not_empty(&mut config.network.cosmos_chain_id),
            show: |config| show::text(&config.network.cosmos_chain_id),
            ..Setting::BLANK
        },
        Setting {
            name: "network.bech32-prefix",
            placeholder: "PREFIX",
            help: "Human-readable prefix of bech32 addresses",
            read: |config, given| {
                given.checked(
                    |text| Hrp::new(text).map_err(|error| error.to_string()),
                    &mut config.network.hrp,
                )
            },
            show: |config| show::text(&config.network.hrp),
            ..Setting::BLANK
        },
        Setting {
            name: "network.coin",
            placeholder: "SYMBOL",
            help: "Symbol of the native coin",
            read: |config, given| given.not_empty(&mut config.network.coin),
            show: |config| show::text(&config.network.coin),
            ..Setting::BLANK
        },
        Setting {
            name: "network.denomination",
            placeholder: "NAME",
            help: "Base denomination of the native coin; the coin has 18 decimals",
            read: |config, given| given.not_empty(&mut config.network.denomination),
            show: |config| show::text(&config.network.denomination),
            ..Setting::BLANK
        },
        Setting {
            name: "network.account-type",
            placeholder: "URL",
            help: "Type URL of accounts in Cosmos queries",
            read: |config, given| given.not_empty(&mut config.network.account_type),
            show: |config| show::text(&config.network.account_type),
            ..Setting::BLANK
        },
        Setting {
            name: "network.key-type",
            placeholder: "URL",
            help: "Type URL of public keys in Cosmos queries",
            read: |config, given| given.not_empty(&mut config.network.key_type),
            show: |config| show::text(&config.network.key_type),
            ..Setting::BLANK
        },
    ],
};
