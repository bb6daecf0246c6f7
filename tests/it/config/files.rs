//! The shipped configuration files say what is so.

use tetrad::{
    Config,
    config::{Profile, SETTINGS, Values},
};

fn shipped() -> [(Profile, &'static str); 2] {
    [
        (Profile::Development, include_str!("../../../config/development.toml")),
        (Profile::Production, include_str!("../../../config/production.toml")),
    ]
}

#[test]
fn they_show_every_setting_with_its_default() {
    for (profile, text) in shipped() {
        let mut values = Values::default();
        values.read_text(text, "shipped.toml").unwrap();
        let read = Config::from_values(&values).unwrap();
        let defaults = Config::of(profile);
        assert_eq!(read.profile, profile);
        for setting in SETTINGS {
            let key = setting.name.rsplit('.').next().unwrap();
            assert!(
                text.lines().any(|line| line.trim_start_matches("# ").starts_with(&format!("{key} = "))),
                "{} is not in the file",
                setting.name
            );
            assert_eq!(read.value_of(setting.name), defaults.value_of(setting.name), "{}", setting.name);
            assert_eq!(
                values.get(setting.name).is_some(),
                defaults.value_of(setting.name).is_some(),
                "{}",
                setting.name
            );
        }
    }
}

#[test]
fn every_setting_has_a_value_that_can_be_shown() {
    // A setting that `value_of` does not know would silently miss from `tetrad config`.
    let unset = [
        "block-time",
        "genesis",
        "data-dir",
        "ready-file",
        "listen-unix",
        "traces.endpoint",
        "fork.url",
        "fork.block",
        "tls.certificate-file",
        "tls.key-file",
        "exchange.upstream-subscribe",
        "exchange.upstream-ca-file",
        "keys.treasury-file",
        "keys.keystore",
        "keys.password-file",
        "keys.updater-file",
    ];
    for setting in SETTINGS {
        let shown = Config::default().value_of(setting.name).is_some();
        assert_eq!(shown, !unset.contains(&setting.name), "{}", setting.name);
    }
}
