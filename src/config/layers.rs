//! The values of file, environment and flags in one table, each with its origin.

use std::{collections::BTreeMap, net::SocketAddr, path::Path};

use toml::{Table, Value};

use super::{
    given::{ConfigError, Given, ValueOrigin, listen_host, whole_number},
    node::Config,
    setting::{Kind, Setting},
    settings::settings,
};

/// The values that the user gave, by the names of their settings.
#[derive(Clone, Debug, Default)]
pub struct Values {
    by_name: BTreeMap<&'static str, (Value, ValueOrigin)>,
    warnings: Vec<String>,
}

impl Values {
    /// Takes the values of a file; they win over those taken before.
    pub fn read_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::new(format!("config {file}: cannot be read: {error}")))?;
        self.read_text(&text, &file)
    }

    /// Takes the values of a file's text.
    pub fn read_text(&mut self, text: &str, file: &str) -> Result<(), ConfigError> {
        self.take_text(text, file)
            .into_iter()
            .next()
            .map_or(Ok(()), Err)
    }

    /// Takes those values of a file's text that can be used, and returns what is wrong with the
    /// others.
    pub(super) fn take_text(&mut self, text: &str, file: &str) -> Vec<ConfigError> {
        let table: Table = match text.parse() {
            Err(error) => return vec![ConfigError::new(format!("config {file}: {error}"))],
            Ok(table) => table,
        };

        let mut entries = Vec::new();
        for (key, value) in table {
            match value {
                Value::Table(inner) => {
                    entries.extend(
                        inner
                            .into_iter()
                            .map(|(name, value)| (format!("{key}.{name}"), value)),
                    );
                }
                value => entries.push((key, value)),
            }
        }

        // The value of the present name wins over that of a former one.
        entries
            .sort_by_key(|(key, _)| !settings().any(|setting| setting.former_name == Some(&**key)));
        entries
            .into_iter()
            .filter_map(|(key, value)| self.take_from_file(&key, value, file).err())
            .collect()
    }

    fn take_from_file(&mut self, key: &str, value: Value, file: &str) -> Result<(), ConfigError> {
        let setting = settings()
            .find(|setting| setting.name == key || setting.former_name == Some(key))
            .ok_or_else(|| {
                ConfigError::new(format!(
                    "config {file}: unknown key `{key}`{}",
                    suggestion(key)
                ))
            })?;

        let origin = ValueOrigin::File(format!("{key} in {file}"));
        let fits = match setting.kind {
            Kind::Text => value.is_str() || value.is_integer() || value.is_float(),
            Kind::Integer => {
                value.is_integer()
                    || value
                        .as_str()
                        .is_some_and(|text| whole_number(text).is_some())
            }
            Kind::Number => value.is_integer() || value.is_float(),
            Kind::Switch => value.is_bool(),
            Kind::List => value
                .as_array()
                .is_some_and(|items| items.iter().all(Value::is_str)),
        };
        if !fits {
            let expected = setting.kind.expected();
            let got = value.type_str();
            let error = ConfigError::of(
                setting.name,
                format!("{origin}: expected {expected}, got {got}"),
            );
            return Err(error.at(&origin));
        }

        let value = match setting.kind {
            Kind::Integer => match value.as_str().and_then(whole_number) {
                Some(number) => Value::Integer(number),
                None => value,
            },
            _ => value,
        };
        self.by_name.insert(setting.name, (value, origin));
        Ok(())
    }

    /// Takes the values of environment variables that begin with `TETRAD_`. Unknown ones are
    /// warnings, not errors: orchestrators set such variables for a service or container called
    /// tetrad.
    pub fn read_environment(
        &mut self,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<(), ConfigError> {
        let mut given: Vec<_> = variables
            .filter(|(variable, _)| variable.starts_with("TETRAD_"))
            .collect();

        // The value of the present name wins over that of a former one.
        given.sort_by_key(|(variable, _)| {
            !settings().any(|setting| setting.former_variable().as_ref() == Some(variable))
        });

        for (variable, text) in given {
            let named = settings().find(|setting| {
                setting.variable() == variable
                    || setting.former_variable().as_ref() == Some(&variable)
            });
            let Some(setting) = named else {
                // The first names the configuration file, the second belongs to `tetrad keys`.
                let elsewhere = matches!(variable.as_str(), "TETRAD_CONFIG" | "TETRAD_KEYSTORE");
                if !elsewhere && !is_service_link(&variable) {
                    let close = similar(&variable, settings().map(Setting::variable));
                    self.warnings
                        .push(format!("unknown environment variable {variable}{close}"));
                }
                continue;
            };
            self.read(setting, &text, ValueOrigin::Environment(variable))?;
        }
        Ok(())
    }

    /// Takes the value of a setting from text.
    pub fn read(
        &mut self,
        setting: &Setting,
        text: &str,
        origin: ValueOrigin,
    ) -> Result<(), ConfigError> {
        let value = match setting.kind {
            Kind::Text => Some(Value::String(text.to_owned())),
            Kind::Integer => whole_number(text).map(Value::Integer),
            Kind::Number => text.parse().ok().map(Value::Float),
            Kind::Switch => match text {
                "true" | "1" => Some(Value::Boolean(true)),
                "false" | "0" => Some(Value::Boolean(false)),
                _ => None,
            },
            Kind::List => {
                let items = text
                    .split(',')
                    .map(str::trim)
                    .filter(|item| !item.is_empty());
                Some(Value::Array(
                    items.map(|item| Value::String(item.to_owned())).collect(),
                ))
            }
        };
        let value = value.ok_or_else(|| {
            let expected = setting.kind.expected();
            ConfigError::of(
                setting.name,
                format!("{origin}: expected {expected}, got `{text}`"),
            )
        })?;

        self.by_name.insert(setting.name, (value, origin));
        Ok(())
    }

    /// Takes the items of a list.
    pub(crate) fn put_list(&mut self, setting: &Setting, items: Vec<String>, origin: ValueOrigin) {
        let items = items.into_iter().map(Value::String).collect();
        self.by_name
            .insert(setting.name, (Value::Array(items), origin));
    }

    /// Replaces the `host` or the `port` of the main listener's address by the text of a flag of
    /// that name.
    pub(crate) fn replace_in_listen(&mut self, part: &str, text: &str) -> Result<(), ConfigError> {
        let Some(setting) = settings().find(|setting| setting.name == "listen") else {
            return Ok(());
        };

        let origin = ValueOrigin::Flag(part.to_owned());
        let wrong = |what: String| ConfigError::of(setting.name, format!("{origin}: {what}"));

        // The other part stays that of the file or the environment.
        let mut address = self.main_address()?;
        match part {
            "host" => address.set_ip(listen_host(text).map_err(wrong)?),
            _ => {
                let port = text
                    .parse()
                    .map_err(|_| wrong(format!("expected a port from 0 to 65535, got `{text}`")))?;
                address.set_port(port);
            }
        }

        self.by_name
            .insert(setting.name, (Value::String(address.to_string()), origin));
        Ok(())
    }

    /// Returns the main listener's address.
    pub(crate) fn main_address(&self) -> Result<SocketAddr, ConfigError> {
        let mut config = Config::default();
        if let Some(setting) = settings().find(|setting| setting.name == "listen") {
            setting.apply(&mut config, self.given(setting))?;
        }
        Ok(config.listen)
    }

    /// Returns warnings about what was given and is not used.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the value that was given for a setting.
    pub fn given(&self, setting: &Setting) -> Option<Given<'_>> {
        self.by_name
            .get(setting.name)
            .map(|(value, origin)| Given { value, origin })
    }
}

impl Kind {
    fn expected(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Switch => "true or false",
            Self::List => "a list of texts",
        }
    }
}

/// Returns whether Kubernetes or Docker set such a variable for a service:
/// `TETRAD_PORT_8545_TCP_ADDR` for one called `tetrad`, `TETRAD_DEV_SERVICE_HOST` for `tetrad-dev`.
fn is_service_link(variable: &str) -> bool {
    let words: Vec<_> = variable.split('_').collect();
    let protocol = |word: &&str| matches!(*word, "TCP" | "UDP" | "SCTP");
    let number = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    // The first word is the prefix of all of them.
    (1..words.len()).any(|at| match words.get(at..).unwrap_or_default() {
        ["SERVICE", "HOST"] | ["SERVICE", "PORT", ..] | ["PORT"] => true,
        ["PORT", port, kind] | ["PORT", port, kind, "PROTO" | "PORT" | "ADDR"] => {
            number(port) && protocol(kind)
        }
        _ => false,
    })
}

/// Returns `; did you mean …` if a setting's name is close, or its flag was used as a key.
fn suggestion(key: &str) -> String {
    let flag = settings().find(|setting| setting.flag() == key);
    similar(
        flag.map_or(key, |setting| setting.name),
        settings().map(|setting| setting.name.to_owned()),
    )
}

/// Returns `; did you mean …` if one of `known` is close.
fn similar(name: &str, known: impl Iterator<Item = String>) -> String {
    let close = known
        .map(|known| (strsim::damerau_levenshtein(&known, name), known))
        .min();
    close
        .filter(|(distance, _)| *distance <= 3)
        .map_or(String::new(), |(_, known)| {
            format!("; did you mean `{known}`?")
        })
}
