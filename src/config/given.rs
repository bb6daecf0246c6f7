//! Reading a value that the user gave into a field.

use std::{
    fmt::{self, Display},
    net::{IpAddr, Ipv4Addr, SocketAddr},
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
    in_file: bool,
}

impl ConfigError {
    /// Returns an error of the configuration as a whole.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            setting: None,
            message: message.into(),
            in_file: false,
        }
    }

    /// Returns an error in the value of a setting.
    pub(super) fn of(setting: &'static str, message: impl Into<String>) -> Self {
        Self {
            setting: Some(setting),
            message: message.into(),
            in_file: false,
        }
    }

    /// Returns an error in the value of a flag that is not a setting's.
    pub(crate) fn of_flag(flag: &str, what: impl Display) -> Self {
        Self::new(format!("--{flag}: {what}"))
    }

    /// Adds the source of the wrong value.
    pub(super) fn at(self, origin: &ValueOrigin) -> Self {
        Self {
            in_file: matches!(origin, ValueOrigin::File(_)),
            ..self
        }
    }

    /// Returns whether a file has the wrong value.
    pub(crate) fn is_in_file(&self) -> bool {
        self.in_file
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
    /// A command whose defaults are not the node's.
    Command(&'static str),
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => f.write_str(file),
            Self::Environment(variable) => f.write_str(variable),
            Self::Flag(flag) => write!(f, "--{flag}"),
            Self::Command(command) => f.write_str(command),
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

/// The methods read the value into a field. Errors say what was expected; the caller adds the
/// origin.
impl Given<'_> {
    pub(super) fn text(&self) -> String {
        match self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    pub(super) fn items(&self) -> Vec<&str> {
        self.value
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// Parses each item of a list.
    pub(super) fn each<T, C: FromIterator<T>>(
        &self,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<C, String> {
        self.items().into_iter().map(parse).collect()
    }

    pub(super) fn checked<T>(
        &self,
        parse: impl Fn(&str) -> Result<T, String>,
        field: &mut T,
    ) -> Result<(), String> {
        *field = parse(&self.text())?;
        Ok(())
    }

    pub(super) fn parsed<T: FromStr<Err: Display>>(
        &self,
        expected: &str,
        field: &mut T,
    ) -> Result<(), String> {
        let text = self.text();
        *field = text
            .parse()
            .map_err(|error| format!("expected {expected}, got `{text}` ({error})"))?;
        Ok(())
    }

    /// The address of a listener.
    pub(super) fn address(&self, example: &str, field: &mut SocketAddr) -> Result<(), String> {
        self.checked(|text| listen_address(text, example), field)
    }

    /// The address of a listener, or `off`.
    pub(super) fn address_or_off(
        &self,
        example: &str,
        field: &mut Option<SocketAddr>,
    ) -> Result<(), String> {
        *field = match &*self.text() {
            "off" => None,
            address => Some(listen_address(address, &format!("{example}, or off"))?),
        };
        Ok(())
    }

    pub(super) fn not_empty(&self, field: &mut String) -> Result<(), String> {
        let text = Some(self.text()).filter(|text| !text.is_empty());
        *field = text.ok_or("expected text that is not empty")?;
        Ok(())
    }

    pub(super) fn choice<T: Copy>(
        &self,
        choices: &[(&str, T)],
        field: &mut T,
    ) -> Result<(), String> {
        let text = self.text();
        let found = choices
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, value)| *value);
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        *field = found.ok_or_else(|| format!("expected {}, got `{text}`", names.join(" or ")))?;
        Ok(())
    }

    pub(super) fn integer<T: TryFrom<i64>>(
        &self,
        range: RangeInclusive<i64>,
        field: &mut T,
    ) -> Result<(), String> {
        let number = self
            .value
            .as_integer()
            .filter(|number| range.contains(number));
        *field = number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| {
                format!(
                    "expected {} to {}, got {}",
                    range.start(),
                    range.end(),
                    self.value
                )
            })?;
        Ok(())
    }

    /// Reads a whole number of units of `1 << shift` bytes.
    fn bytes<T: TryFrom<i64>>(
        &self,
        shift: u32,
        range: RangeInclusive<i64>,
        field: &mut T,
    ) -> Result<(), String> {
        let mut units = 0_i64;
        self.integer(range, &mut units)?;
        *field = T::try_from(units << shift)
            .map_err(|_| format!("{units} is too much for this machine"))?;
        Ok(())
    }

    pub(super) fn megabytes<T: TryFrom<i64>>(
        &self,
        range: RangeInclusive<i64>,
        field: &mut T,
    ) -> Result<(), String> {
        self.bytes(20, range, field)
    }

    pub(super) fn kilobytes<T: TryFrom<i64>>(
        &self,
        range: RangeInclusive<i64>,
        field: &mut T,
    ) -> Result<(), String> {
        self.bytes(10, range, field)
    }

    /// Reads a number of some unit, such as ` seconds`.
    pub(super) fn number(
        &self,
        range: RangeInclusive<f64>,
        unit: &str,
        field: &mut f64,
    ) -> Result<(), String> {
        let number = self
            .value
            .as_float()
            .or(self.value.as_integer().map(|whole| whole as f64));
        *field = number
            .filter(|number| range.contains(number))
            .ok_or_else(|| {
                format!(
                    "expected {} to {}{unit}, got {}",
                    range.start(),
                    range.end(),
                    self.value
                )
            })?;
        Ok(())
    }

    pub(super) fn seconds(
        &self,
        range: RangeInclusive<f64>,
        field: &mut Duration,
    ) -> Result<(), String> {
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

/// The host of listeners that are given by their port alone, and of `localhost`: this machine.
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Reads an address to listen on: `127.0.0.1:8545`, `[::1]:8545`, `localhost:8545`, `:8545` or
/// `8545`. The last three mean this machine only, since a node must not be open to others by
/// accident.
pub(super) fn listen_address(text: &str, example: &str) -> Result<SocketAddr, String> {
    socket_address(text).map_err(|what| {
        format!("expected an address and port, such as {example}, got `{text}` ({what})")
    })
}

/// Reads an address to listen on. The error says what is wrong with it.
fn socket_address(text: &str) -> Result<SocketAddr, &'static str> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }

    let (host, port) = match text.rsplit_once(':') {
        // The colons of IPv6 addresses separate no port.
        _ if text.parse::<IpAddr>().is_ok() => return Err("no port"),
        Some((host, port)) => (host, port),
        None => ("", text),
    };

    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match port.parse() {
        Ok(port) if host.is_empty() => Ok(SocketAddr::new(LOOPBACK, port)),
        Ok(port) => match listen_host(host) {
            Ok(host) => Ok(SocketAddr::new(host, port)),
            Err(_) => Err("the host is neither an IP address nor localhost"),
        },
        Err(_) if is_number => Err("the port is above 65535"),
        Err(_) if text.contains(':') => Err("no port"),
        Err(_) => Err("invalid socket address syntax"),
    }
}

/// Reads the host of a listener: an IP address, or `localhost`.
pub(crate) fn listen_host(text: &str) -> Result<IpAddr, String> {
    if text.eq_ignore_ascii_case("localhost") {
        return Ok(LOOPBACK);
    }
    // IPv6 addresses are in brackets before a port.
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    bare.parse()
        .map_err(|_| format!("expected an IP address or localhost, got `{text}`"))
}

/// Reads a whole number, in decimal or, after `0x`, in hexadecimal digits; `_` may separate them.
pub(crate) fn whole_number(text: &str) -> Option<i64> {
    let digits = text.replace('_', "");
    match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(hex) if hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            i64::from_str_radix(hex, 16).ok()
        }
        Some(_) => None,
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_leave_out_the_host() {
        for (text, expected) in [
            ("127.0.0.1:8545", "127.0.0.1:8545"),
            ("0.0.0.0:1", "0.0.0.0:1"),
            ("[::1]:8545", "[::1]:8545"),
            ("localhost:8545", "127.0.0.1:8545"),
            ("LocalHost:0", "127.0.0.1:0"),
            (":8545", "127.0.0.1:8545"),
            ("8545", "127.0.0.1:8545"),
        ] {
            assert_eq!(
                listen_address(text, "x").map(|address| address.to_string()),
                Ok(expected.to_owned())
            );
        }
        for (text, what) in [
            ("", "invalid socket address syntax"),
            ("nowhere", "invalid socket address syntax"),
            ("127.0.0.1", "no port"),
            ("::1", "no port"),
            ("localhost:", "no port"),
            ("localhost:http", "no port"),
            (
                "example.org:80",
                "the host is neither an IP address nor localhost",
            ),
            ("65536", "the port is above 65535"),
            (":65536", "the port is above 65535"),
        ] {
            let error = listen_address(text, "127.0.0.1:8545").unwrap_err();
            assert!(
                error.starts_with("expected an address and port, such as 127.0.0.1:8545, got `"),
                "{error}"
            );
            assert!(error.ends_with(&format!("`{text}` ({what})")), "{error}");
        }
    }

    #[test]
    fn whole_numbers_are_decimal_or_hexadecimal() {
        for (text, expected) in [
            ("125", Some(125)),
            ("0x7d", Some(125)),
            ("0X7D", Some(125)),
            ("1_000", Some(1_000)),
            ("-1", Some(-1)),
            ("0x", None),
            ("0x-1", None),
            ("7d", None),
            ("", None),
            ("0xffffffffffffffff", None),
        ] {
            assert_eq!(whole_number(text), expected, "{text}");
        }
    }
}
