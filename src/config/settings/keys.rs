//! The settings of `[tls]` and `[keys]`.

use std::path::PathBuf;

use crate::config::{
    node::{Config, TlsFiles},
    setting::{Section, Setting},
    show,
};

pub(super) const TLS: Section = Section {
    name: "tls",
    about: "Certificate and private key with which the listeners speak TLS. Both are read again on SIGHUP.",
    settings: &[
        Setting {
            name: "tls.certificate-file",
            placeholder: "FILE",
            help: "Certificates of the listeners (PEM, the server's own first); read again on SIGHUP",
            example: "\"/etc/tetrad/fullchain.pem\"",
            must_exist: true,
            read: |config, given| {
                config.tls.get_or_insert_default().certificate = given.text().into();
                Ok(())
            },
            show: |config| show_tls(config, |files| &files.certificate),
            check: |config| match &config.tls {
                Some(files) if files.key.as_os_str().is_empty() => {
                    Err("tls.key-file is missing".to_owned())
                }
                _ => Ok(()),
            },
            ..Setting::BLANK
        },
        Setting {
            name: "tls.key-file",
            placeholder: "FILE",
            help: "Private key of the certificate (PEM)",
            example: "\"/etc/tetrad/privkey.pem\"",
            must_exist: true,
            read: |config, given| {
                config.tls.get_or_insert_default().key = given.text().into();
                Ok(())
            },
            show: |config| show_tls(config, |files| &files.key),
            check: |config| match &config.tls {
                Some(files) if files.certificate.as_os_str().is_empty() => {
                    Err("tls.certificate-file is missing".to_owned())
                }
                _ => Ok(()),
            },
            ..Setting::BLANK
        },
    ],
};

pub(super) const KEYS: Section = Section {
    name: "keys",
    about: "",
    settings: &[
        Setting {
            name: "keys.treasury-file",
            placeholder: "FILE",
            help: "Private key (hex) of the account that owns the contracts",
            details: "Without it the key is derived from the mnemonic (m/44'/60'/1'/0/0); in the production \
                      profile it is kept in the data directory, or is new at each start without one.",
            example: "\"/etc/tetrad/treasury.key\"",
            must_exist: true,
            read: |config, given| given.path(&mut config.treasury_file),
            show: |config| show::path(config.treasury_file.as_ref()),
            ..Setting::BLANK
        },
        Setting {
            name: "keys.updater-file",
            placeholder: "FILE",
            help: "Private key (hex) of the account that updates prices",
            details: "Without it the key is derived from the mnemonic (m/44'/60'/1'/0/1); in the production \
                      profile it is kept in the data directory, or is new at each start without one.",
            example: "\"/etc/tetrad/updater.key\"",
            must_exist: true,
            read: |config, given| given.path(&mut config.updater_file),
            show: |config| show::path(config.updater_file.as_ref()),
            ..Setting::BLANK
        },
        Setting {
            name: "keys.keystore",
            placeholder: "DIR",
            help: "Directory of V3 keystore files with accounts that the node signs for on request",
            details: "`tetrad keys` writes such files. eth_accounts lists their accounts, and every client that reaches \
                      the node may send transactions from them.",
            example: "\"/etc/tetrad/keystore\"",
            must_exist: true,
            read: |config, given| given.path(&mut config.keystore),
            show: |config| show::path(config.keystore.as_ref()),
            ..Setting::BLANK
        },
        Setting {
            name: "keys.password-file",
            placeholder: "FILE",
            help: "Password of the files in keys.keystore",
            example: "\"/etc/tetrad/password\"",
            must_exist: true,
            read: |config, given| given.path(&mut config.password_file),
            show: |config| show::path(config.password_file.as_ref()),
            ..Setting::BLANK
        },
    ],
};

fn show_tls(config: &Config, file: fn(&TlsFiles) -> &PathBuf) -> Option<toml::Value> {
    show::path(
        config
            .tls
            .as_ref()
            .map(file)
            .filter(|file| !file.as_os_str().is_empty()),
    )
}
