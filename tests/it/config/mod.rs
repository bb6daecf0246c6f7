//! Settings from file, environment and flags; the program's command line.

#[cfg(unix)]
mod anvil;
mod cluster;
mod cluster_files;
mod files;
mod fork;
mod layers;
mod page;
mod program;

use tetrad::{
    Config,
    config::{ConfigError, ValueOrigin, Values, settings},
};

/// The configuration from the text of a file, and from flags by the names of their settings.
fn read(text: &str, flags: &[(&str, &str)]) -> Result<Config, String> {
    let mut values = Values::default();
    add_layers(&mut values, text, flags)
        .and_then(|()| Config::from_values(&values))
        .map_err(|error| error.to_string())
}

fn add_layers(values: &mut Values, text: &str, flags: &[(&str, &str)]) -> Result<(), ConfigError> {
    values.read_text(text, "x.toml")?;
    for (name, value) in flags {
        let setting = settings().find(|setting| setting.name == *name).unwrap();
        values.read(setting, value, ValueOrigin::Flag(setting.flag()))?;
    }
    Ok(())
}
