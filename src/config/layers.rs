//! From file, environment and flags to one table of values, each with where it came from.

use std::{collections::BTreeMap, fmt, path::Path};

use toml::{Table, Value};

use super::{
    ConfigError,
    settings::{Kind, SETTINGS, Setting},
};

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A key of a file.
    File(String),
    /// An environment variable.
    Environment(String),
    /// A flag.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => f.write_str(file),
            Self::Environment(variable) => f.write_str(variable),
            Self::Flag(flag) => write!(f, "--{flag}"),
        }
    }
}

/// Values by the names of their settings.
#[derive(Clone, Debug, Default)]
pub struct Values {
    by_name: BTreeMap<&'static str, (Value, Origin)>,
    warnings: Vec<String>,
}

impl Values {
    /// Takes the values of a file, over those that are there.
    pub fn read_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::new(format!("config {file}: cannot be read: {error}")))?;
        self.read_text(&text, &file)
    }

    /// Takes the values of a file's text.
    pub fn read_text(&mut self, text: &str, file: &str) -> Result<(), ConfigError> {
        let table: Table = text.parse().map_err(|error| ConfigError::new(format!("config {file}: {error}")))?;
        for (key, value) in table {
            match value {
                Value::Table(inner) => {
                    for (name, value) in inner {
                        self.take_from_file(format!("{key}.{name}"), value, file)?;
                    }
                }
                value => self.take_from_file(key, value, file)?,
            }
        }
        Ok(())
    }

    fn take_from_file(&mut self, key: String, value: Value, file: &str) -> Result<(), ConfigError> {
        let setting = SETTINGS
            .iter()
            .find(|setting| setting.name == key)
            .ok_or_else(|| ConfigError::new(format!("config {file}: unknown key `{key}`{}", suggestion(&key))))?;
        let origin = Origin::File(format!("{key} in {file}"));
        let fits = match setting.kind {
            Kind::Text => value.is_str() || value.is_integer() || value.is_float(),
            Kind::Integer => value.is_integer(),
            Kind::Number => value.is_integer() || value.is_float(),
            Kind::Switch => value.is_bool(),
            Kind::List => value.as_array().is_some_and(|items| items.iter().all(Value::is_str)),
        };
        if !fits {
            let expected = setting.kind.expected();
            return Err(ConfigError::new(format!("{origin}: expected {expected}, got {}", value.type_str())));
        }
        self.by_name.insert(setting.name, (value, origin));
        Ok(())
    }

    /// Takes the values of the environment: of variables that begin with `TETRAD_`. Those that are no setting are no error:
    /// other programs name variables as well, after a service or a container called tetrad.
    pub fn read_environment(&mut self, variables: impl Iterator<Item = (String, String)>) -> Result<(), ConfigError> {
        for (variable, text) in variables.filter(|(variable, _)| variable.starts_with("TETRAD_")) {
            let Some(setting) = SETTINGS.iter().find(|setting| setting.variable() == variable) else {
                // The first names the file and is read before the others, the second belongs to `tetrad keys`.
                let elsewhere = matches!(variable.as_str(), "TETRAD_CONFIG" | "TETRAD_KEYSTORE");
                if !elsewhere && !is_service_link(&variable) {
                    let close = similar(&variable, SETTINGS.iter().map(Setting::variable));
                    self.warnings.push(format!("unknown environment variable {variable}{close}"));
                }
                continue;
            };
            self.read(setting, &text, Origin::Environment(variable))?;
        }
        Ok(())
    }

    /// Takes a value from text.
    pub fn read(&mut self, setting: &Setting, text: &str, origin: Origin) -> Result<(), ConfigError> {
        let value = match setting.kind {
            Kind::Text => Some(Value::String(text.to_owned())),
            Kind::Integer => text.replace('_', "").parse().ok().map(Value::Integer),
            Kind::Number => text.parse().ok().map(Value::Float),
            Kind::Switch => match text {
                "true" | "1" => Some(Value::Boolean(true)),
                "false" | "0" => Some(Value::Boolean(false)),
                _ => None,
            },
            Kind::List => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Some(Value::Array(items.map(|item| Value::String(item.to_owned())).collect()))
            }
        };
        let expected = setting.kind.expected();
        let value = value.ok_or_else(|| ConfigError::new(format!("{origin}: expected {expected}, got `{text}`")))?;
        self.by_name.insert(setting.name, (value, origin));
        Ok(())
    }

    /// What was given and is not used.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The value of a setting and where it came from.
    pub fn get(&self, name: &str) -> Option<(&Value, &Origin)> {
        debug_assert!(SETTINGS.iter().any(|setting| setting.name == name), "{name} is no setting");
        self.by_name.get(name).map(|(value, origin)| (value, origin))
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

/// Whether a variable is one of those with which Kubernetes and Docker tell a container where a service is, such as
/// `TETRAD_PORT_8545_TCP_ADDR` for one called `tetrad` and `TETRAD_DEV_SERVICE_HOST` for `tetrad-dev`.
fn is_service_link(variable: &str) -> bool {
    let words: Vec<_> = variable.split('_').collect();
    let protocol = |word: &&str| matches!(*word, "TCP" | "UDP" | "SCTP");
    let number = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    // The first word is the prefix of all of them.
    (1..words.len()).any(|at| match words.get(at..).unwrap_or_default() {
        ["SERVICE", "HOST"] | ["SERVICE", "PORT", ..] | ["PORT"] => true,
        ["PORT", port, kind] | ["PORT", port, kind, "PROTO" | "PORT" | "ADDR"] => number(port) && protocol(kind),
        _ => false,
    })
}

/// `; did you mean …` where a setting's name is close.
fn suggestion(key: &str) -> String {
    similar(key, SETTINGS.iter().map(|setting| setting.name.to_owned()))
}

/// `; did you mean …` where one of `known` is close.
fn similar(name: &str, known: impl Iterator<Item = String>) -> String {
    let close = known.map(|known| (strsim::damerau_levenshtein(&known, name), known)).min();
    close
        .filter(|(distance, _)| *distance <= 3)
        .map_or(String::new(), |(_, known)| format!("; did you mean `{known}`?"))
}
