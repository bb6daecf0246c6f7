//! What the settings of a fork mean.

use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};

use super::{Config, ConfigError, Origin, reader::Reader};

impl Config {
    /// Reads the settings of a fork, after those that it may take from the other chain.
    pub(super) fn read_fork(&mut self, read: &Reader<'_>) -> Result<(), ConfigError> {
        let mut url = None;
        read.checked("fork.url", &mut url, |text| parse_url(text).map(Some))?;
        let fork = &mut self.fork;
        fork.url = url;
        let mut block = -1;
        read.integer("fork.block", 0..=i64::MAX, &mut block)?;
        fork.block = u64::try_from(block).ok();
        if let Some((items, origin)) = read.list("fork.headers") {
            let header = |text: &str| parse_header(text).map_err(|what| ConfigError::new(format!("{origin}: {what}")));
            fork.headers = items.into_iter().map(header).collect::<Result<_, _>>()?;
        }
        for (name, least, field) in
            [("fork.timeout", 0.1, &mut fork.timeout), ("fork.retry-backoff", 0.0, &mut fork.retry_backoff)]
        {
            *field = read.seconds(name, least..=3_600.0)?.unwrap_or(*field);
        }
        read.integer("fork.retries", 0..=100, &mut fork.retries)?;
        // A file may list defaults that nobody chose.
        let defaults = Self::of(self.profile);
        let chosen = |name: &str| match read.0.get(name) {
            Some((value, Origin::File(_))) => defaults.value_of(name).as_ref() != Some(value),
            given => given.is_some(),
        };
        self.fork.chain_id = chosen("chain-id").then_some(self.chain_id);
        self.fork.gas_limit = chosen("gas-limit").then_some(self.gas_limit);
        Ok(())
    }

    /// What does not go together with a fork.
    pub(super) fn check_fork(&self) -> Result<(), ConfigError> {
        if self.fork.url.is_none() {
            let alone = [("block", self.fork.block.is_some()), ("headers", !self.fork.headers.is_empty())];
            return match alone.into_iter().find(|(_, given)| *given) {
                Some((name, _)) => Err(ConfigError::new(format!("fork.{name}: fork.url is missing"))),
                None => Ok(()),
            };
        }
        let others = [
            ("genesis", self.genesis.is_some(), "a fork has the other chain's first block"),
            ("import", !self.import.is_empty(), "a fork has the other chain's blocks"),
            ("data-dir", self.data_dir.is_some(), "a fork lives in memory"),
        ];
        match others.into_iter().find(|(_, given, _)| *given) {
            Some((name, _, why)) => Err(ConfigError::new(format!("{name}: does not go together with fork.url: {why}"))),
            None => Ok(()),
        }
    }
}

fn parse_url(text: &str) -> Result<Url, String> {
    let url: Url = text.parse().map_err(|error| format!("expected a URL ({error})"))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(format!("expected a URL that begins with http:// or https://, got {other}://")),
    }
}

fn parse_header(text: &str) -> Result<(String, String), String> {
    // The value may be a secret: it is not repeated.
    let (name, value) = text.split_once(':').ok_or("expected headers such as `Name: value`")?;
    let (name, value) = (name.trim(), value.trim());
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is no name of a header"))?;
    HeaderValue::from_str(value).map_err(|_| format!("the value of header `{name}` has forbidden characters"))?;
    Ok((name.to_owned(), value.to_owned()))
}
