//! One setting: its names, its documentation, and the functions that read, show and check its
//! value.
//!
//! A setting has the same name everywhere: `rpc.gas-cap` is `gas-cap` in the table `[rpc]` of the
//! file, the variable `TETRAD_RPC_GAS_CAP` and the flag `--rpc-gas-cap`. A few have a shorter flag
//! and variable.

use toml::Value;

use super::{
    given::{ConfigError, Given, ValueOrigin},
    node::Config,
};

/// The type of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text in the form that the placeholder shows.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A switch.
    Switch,
    /// Several texts, separated by commas outside of the file.
    List,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The name, with the table in front.
    pub name: &'static str,
    /// The name of its flag; empty for the name with `-` in place of dots.
    pub(super) flag: &'static str,
    /// Other names of the flag, by which users of anvil know it.
    pub aliases: &'static [&'static str],
    /// Another name that it had in earlier versions, under which it can still be given everywhere.
    pub former_name: Option<&'static str>,
    /// The letter of the flag.
    pub short: Option<char>,
    /// Whether the short help lists it.
    pub common: bool,
    /// The type of its value.
    pub kind: Kind,
    /// The placeholder of the value in the help; empty for a switch.
    pub placeholder: &'static str,
    /// The purpose in one line, without a full stop.
    pub help: &'static str,
    /// Details, as sentences, for the book and the configuration files. Line breaks are kept.
    pub details: &'static str,
    /// An example value, as TOML, for the configuration files of profiles in which the setting has
    /// no value.
    pub example: &'static str,
    /// A short flag that sets the number of times it is given, and its help.
    pub counter: Option<(char, &'static str)>,
    /// Whether it names files or directories that have to exist.
    pub must_exist: bool,
    /// The settings that contradict it when the user chooses both, and why.
    pub excludes: &'static [(&'static str, &'static str)],
    /// Puts a given value into the configuration; the error says what was expected.
    pub(super) read: fn(&mut Config, &Given<'_>) -> Result<(), String>,
    /// Sets the default where no value is given and settings earlier in the table decide it.
    pub(super) derive: fn(&mut Config),
    /// The value in effect, as a file would have it; none if there is none.
    pub(super) show: fn(&Config) -> Option<Value>,
    /// The value in effect with secrets of other services replaced; none if it never has any.
    pub(super) redact: Option<fn(&Config) -> Option<Value>>,
    /// Checks the value against those of other settings; the error says what contradicts.
    pub(super) check: fn(&Config) -> Result<(), String>,
}

impl Setting {
    /// The defaults of an entry's fields.
    pub(super) const BLANK: Self = Self {
        name: "",
        flag: "",
        aliases: &[],
        former_name: None,
        short: None,
        common: false,
        kind: Kind::Text,
        placeholder: "",
        help: "",
        details: "",
        example: "",
        counter: None,
        must_exist: false,
        excludes: &[],
        read: |_, _| Ok(()),
        derive: |_| {},
        show: |_| None,
        redact: None,
        check: |_| Ok(()),
    };

    /// Returns the table in the file; empty at the top.
    pub fn section(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(section, _)| section)
    }

    /// Returns the key in that table.
    pub fn key(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, key)| key)
    }

    /// Returns the flag's name, without dashes in front.
    pub fn flag(&self) -> String {
        if self.flag.is_empty() {
            self.name.replace('.', "-")
        } else {
            self.flag.to_owned()
        }
    }

    /// Returns the name of the environment variable.
    pub fn variable(&self) -> String {
        variable_of(&self.flag())
    }

    /// Returns the former name of the flag, without dashes in front; none if it has always had the
    /// same name.
    pub fn former_flag(&self) -> Option<String> {
        self.former_name.map(|name| name.replace('.', "-"))
    }

    /// Returns the former name of the environment variable, if it had another one.
    pub fn former_variable(&self) -> Option<String> {
        self.former_flag().as_deref().map(variable_of)
    }

    /// Returns the value in effect, as a file would have it; none if it is not set.
    pub fn value(&self, config: &Config) -> Option<Value> {
        (self.show)(config)
    }

    /// Returns the same with `…` in place of secrets of another service: passwords and keys in URLs
    /// and headers.
    pub fn redacted_value(&self, config: &Config) -> Option<Value> {
        self.redact.unwrap_or(self.show)(config)
    }

    /// Puts the given value into the configuration, or the default that depends on other settings.
    pub(super) fn apply(
        &self,
        config: &mut Config,
        given: Option<Given<'_>>,
    ) -> Result<(), ConfigError> {
        match given {
            Some(given) => (self.read)(config, &given).map_err(|what| {
                ConfigError::of(self.name, format!("{}: {what}", given.origin)).at(given.origin)
            }),
            None => {
                (self.derive)(config);
                Ok(())
            }
        }
    }

    /// Returns the value in effect, if the user gave it and it is not the profile's default anyway.
    pub(super) fn chosen<'v>(
        &self,
        config: &Config,
        given: Option<Given<'v>>,
    ) -> Option<Given<'v>> {
        given
            .filter(|given| !matches!(given.origin, ValueOrigin::Command(_)))
            .filter(|_| self.value(config) != self.value(&Config::of(config.profile)))
    }

    /// Checks the value against those of other settings.
    pub(super) fn check(&self, config: &Config) -> Result<(), ConfigError> {
        (self.check)(config)
            .map_err(|what| ConfigError::of(self.name, format!("{}: {what}", self.name)))
    }
}

/// Rejects a value if `contradicts` holds, for the reason `what`.
pub(super) fn reject_if(contradicts: bool, what: &str) -> Result<(), String> {
    if contradicts {
        Err(what.to_owned())
    } else {
        Ok(())
    }
}

/// Returns the name of the environment variable that belongs to a flag.
fn variable_of(flag: &str) -> String {
    format!("TETRAD_{}", flag.replace('-', "_").to_ascii_uppercase())
}

/// A table of the file.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its name; empty for the top level.
    pub name: &'static str,
    /// Its subject, as sentences; may be empty.
    pub about: &'static str,
    /// Its settings, in the order of the help.
    pub settings: &'static [Setting],
}
