//! Reading a value that the user gave into a field.

use std::{
    fmt::{self, Display},
    net::SocketAddr,
    ops::RangeInclusive,
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use toml::Value;

/// An error in the configuration. The message names the setting and where it was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// Name of the setting whose value is wrong; none if no setting is to blame.
    pub(super) setting: Option<&'static str>,
    message: String,
}

impl ConfigError {
    /// Returns an error of the configuration as a whole.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { setting: None, message: message.into() }
    }

    /// Returns an error in the value of a setting.
    pub(super) fn of(setting: &'static str, message: impl Into<String>) -> Self {
        Self { setting: Some(setting), message: message.into() }
    }
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// A key of a file.
    File(String),
    /// An environment variable.
    Environment(String),
    /// A flag.
    Flag(String),
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => f.write_str(file),
            Self::Environment(variable) => f.write_str(variable),
            Self::Flag(flag) => write!(f, "--{flag}"),
        }
    }
}

/// A value that the user gave. It has the type that its setting's [`Kind`](super::Kind) asks for.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The value.
    pub value: &'a Value,
    /// Its source.
    pub origin: &'a ValueOrigin,
}

/// The methods read the value into a field. Errors say what was expected; the caller adds the origin.
impl Given<'_> {
    pub(super) fn text(&self) -> String {
        match self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    pub(super) fn items(&self) -> Vec<&str> {
        self.value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Parses each item of a list.
    pub(super) fn each<T, C: FromIterator<T>>(&self, parse: impl Fn(&str) -> Result<T, String>) -> Result<C, String> {
        self.items().into_iter().map(parse).collect()
    }

    pub(super) fn checked<T>(&self, parse: impl Fn(&str) -> Result<T, String>, field: &mut T) -> Result<(), String> {
        *field = parse(&self.text())?;
        Ok(())
    }

    pub(super) fn parsed<T: FromStr<Err: Display>>(&self, expected: &str, field: &mut T) -> Result<(), String> {
        let parse = |text: &str| text.parse().map_err(|error| format!("expected {expected}, got `{text}` ({error})"));
        self.checked(parse, field)
    }

    /// The address of a listener, or `off`.
    pub(super) fn address_or_off(&self, example: &str, field: &mut Option<SocketAddr>) -> Result<(), String> {
        let parse = |text: &str| match text {
            "off" => Ok(None),
            address => address.parse().map(Some).map_err(|error| {
                format!("expected an address and port, such as {example}, or off, got `{address}` ({error})")
            }),
        };
        self.checked(parse, field)
    }

    pub(super) fn not_empty(&self, field: &mut String) -> Result<(), String> {
        let text = Some(self.text()).filter(|text| !text.is_empty());
        *field = text.ok_or("expected text that is not empty")?;
        Ok(())
    }

    pub(super) fn choice<T: Copy>(&self, choices: &[(&str, T)], field: &mut T) -> Result<(), String> {
        let text = self.text();
        let found = choices.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        *field = found.ok_or_else(|| format!("expected {}, got `{text}`", names.join(" or ")))?;
        Ok(())
    }

    pub(super) fn integer<T: TryFrom<i64>>(&self, range: RangeInclusive<i64>, field: &mut T) -> Result<(), String> {
        let number = self.value.as_integer().filter(|number| range.contains(number));
        let (least, most) = (range.start(), range.end());
        let wrong = || format!("expected {least} to {most}, got {}", self.value);
        *field = number.and_then(|number| T::try_from(number).ok()).ok_or_else(wrong)?;
        Ok(())
    }

    /// Reads a whole number of units of `1 << shift` bytes.
    fn bytes<T: TryFrom<i64>>(&self, shift: u32, range: RangeInclusive<i64>, field: &mut T) -> Result<(), String> {
        let mut units = 0_i64;
        self.integer(range, &mut units)?;
        *field = T::try_from(units << shift).map_err(|_| format!("{units} is too much for this machine"))?;
        Ok(())
    }

    pub(super) fn megabytes<T: TryFrom<i64>>(&self, range: RangeInclusive<i64>, field: &mut T) -> Result<(), String> {
        self.bytes(20, range, field)
    }

    pub(super) fn kilobytes<T: TryFrom<i64>>(&self, range: RangeInclusive<i64>, field: &mut T) -> Result<(), String> {
        self.bytes(10, range, field)
    }

    /// Reads a number of some unit, such as ` seconds`.
    pub(super) fn number(&self, range: RangeInclusive<f64>, unit: &str, field: &mut f64) -> Result<(), String> {
        let number = self.value.as_float().or(self.value.as_integer().map(|whole| whole as f64));
        let (least, most) = (range.start(), range.end());
        let wrong = || format!("expected {least} to {most}{unit}, got {}", self.value);
        *field = number.filter(|number| range.contains(number)).ok_or_else(wrong)?;
        Ok(())
    }

    pub(super) fn seconds(&self, range: RangeInclusive<f64>, field: &mut Duration) -> Result<(), String> {
        let mut seconds = 0.0;
        self.number(range, " seconds", &mut seconds)?;
        *field = Duration::from_secs_f64(seconds);
        Ok(())
    }

    /// Reads seconds of which 0 means none.
    pub(super) fn seconds_or_none(
        &self,
        range: RangeInclusive<f64>,
        field: &mut Option<Duration>,
    ) -> Result<(), String> {
        let mut time = Duration::ZERO;
        self.seconds(range, &mut time)?;
        *field = Some(time).filter(|time| !time.is_zero());
        Ok(())
    }

    pub(super) fn switch(&self, field: &mut bool) -> Result<(), String> {
        *field = self.value.as_bool().ok_or("expected true or false")?;
        Ok(())
    }

    pub(super) fn path(&self, field: &mut Option<PathBuf>) -> Result<(), String> {
        *field = Some(PathBuf::from(self.text()));
        Ok(())
    }

    pub(super) fn paths(&self, field: &mut Vec<PathBuf>) -> Result<(), String> {
        *field = self.items().into_iter().map(PathBuf::from).collect();
        Ok(())
    }
}
