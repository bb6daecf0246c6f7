//! Names of sources in the configuration.

use std::{fmt, path::PathBuf, str::FromStr};

use tetrad_stdx::redact;

use super::{JsonPath, json_path::JsonPathError};

/// A source as the configuration names it: `simulation`, `replay:FILE`, or `URL#PATH`, where the
/// path leads to a token's price in the upstream's JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceSpec {
    /// The simulated market.
    Simulation,
    /// A recorded market.
    Replay(PathBuf),
    /// A service that is polled over HTTP.
    Http {
        /// Its URL, which may have placeholders for one or for all tokens.
        url: String,
        /// The path to the price in its answers.
        path: JsonPath,
    },
    /// A service that sends prices over a WebSocket.
    Socket {
        /// Its URL.
        url: String,
        /// The path to the price in its messages.
        path: JsonPath,
    },
}

/// The reason why a text does not name a source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// It is neither a known name nor a URL.
    #[error(
        "expected simulation, replay:FILE, or a URL (http, https, ws, wss) with a JSON path behind #, got `{0}`"
    )]
    Unknown(String),
    /// An upstream without a path.
    #[error(
        "`{0}` does not say where in the answer prices are: append #PATH, such as #data.{{address}}.price"
    )]
    NoPath(String),
    /// A malformed path.
    #[error("`{0}`: {1}")]
    Path(String, JsonPathError),
}

impl FromStr for SourceSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        if text == "simulation" {
            return Ok(Self::Simulation);
        }
        if let Some(file) = text.strip_prefix("replay:").filter(|file| !file.is_empty()) {
            return Ok(Self::Replay(file.into()));
        }

        let starts = |schemes: [&str; 2]| schemes.iter().any(|scheme| text.starts_with(scheme));
        let is_http = starts(["http://", "https://"]);
        let is_socket = starts(["ws://", "wss://"]);
        if !is_http && !is_socket {
            return Err(SpecError::Unknown(redact::url(text)));
        }

        let (url, path) = text
            .split_once('#')
            .ok_or_else(|| SpecError::NoPath(redact::url(text)))?;
        let path = path
            .parse()
            .map_err(|error| SpecError::Path(redact::url(text), error))?;
        let url = url.to_owned();
        Ok(if is_http {
            Self::Http { url, path }
        } else {
            Self::Socket { url, path }
        })
    }
}

impl SourceSpec {
    /// The source without secrets.
    pub fn redacted(&self) -> String {
        match self {
            Self::Simulation | Self::Replay(_) => self.to_string(),
            Self::Http { url, path } | Self::Socket { url, path } => {
                format!("{}#{path}", redact::url(url))
            }
        }
    }
}

impl fmt::Display for SourceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simulation => f.write_str("simulation"),
            Self::Replay(file) => write!(f, "replay:{}", file.display()),
            Self::Http { url, path } | Self::Socket { url, path } => write!(f, "{url}#{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_shown_as_it_was_named() {
        for text in [
            "simulation",
            "replay:prices.csv",
            "http://127.0.0.1:1/api/prices#data.{address}.price",
            "wss://example.org/ws?x=1#[symbol={symbol}USDT].price",
        ] {
            assert_eq!(
                text.parse::<SourceSpec>().expect("a source").to_string(),
                text
            );
        }
        for (text, shown) in [
            ("simulation", "simulation"),
            (
                "https://h/v1/{ids}?key=secret#{id}.usd",
                "https://h/…#{id}.usd",
            ),
            ("wss://me:secret@h#price", "wss://h#price"),
        ] {
            assert_eq!(
                text.parse::<SourceSpec>().expect("a source").redacted(),
                shown
            );
        }
        for text in [
            "ftp://h/secret",
            "http://me:secret@h",
            "https://h?secret#a..b",
        ] {
            let error = text
                .parse::<SourceSpec>()
                .expect_err("no source")
                .to_string();
            assert!(
                error.contains("://h") && !error.contains("secret"),
                "{error}"
            );
        }
        for text in [
            "",
            "replay:",
            "ftp://x#y",
            "http://x",
            "http://x#",
            "ws://x#a..b",
            "SIMULATION",
        ] {
            assert!(text.parse::<SourceSpec>().is_err(), "{text}");
        }
    }
}
