//! The settings of `[traces]`.

use std::fmt::Display;

use tetrad_stdx::redact;

use crate::config::{
    setting::{Kind, Section, Setting},
    show,
};

pub(super) const SECTION: Section = Section {
    name: "traces",
    about: "OpenTelemetry: spans of requests and of the phases of blocks, over OTLP to a collector.",
    settings: &[
        Setting {
            name: "traces.endpoint",
            placeholder: "URL",
            help: "OpenTelemetry collector to send spans of requests and blocks to (OTLP over HTTP)",
            example: "\"http://localhost:4318\"",
            read: |config, given| {
                given.checked(|text| endpoint(text).map(Some), &mut config.traces.endpoint)
            },
            show: |config| config.traces.endpoint.as_ref().and_then(show::text),
            redact: Some(|config| {
                config
                    .traces
                    .endpoint
                    .as_ref()
                    .and_then(|url| show::text(redact::url(url)))
            }),
            ..Setting::BLANK
        },
        Setting {
            name: "traces.sample-ratio",
            kind: Kind::Number,
            placeholder: "0-1",
            help: "Share of the traces started here that are recorded; a request with a traceparent follows its sender",
            read: |config, given| given.number(0.0..=1.0, "", &mut config.traces.sample_ratio),
            show: |config| Some(toml::Value::Float(config.traces.sample_ratio)),
            ..Setting::BLANK
        },
    ],
};

fn endpoint(text: &str) -> Result<String, String> {
    let mut url: reqwest::Url = text.parse().map_err(|error| wrong_endpoint(text, error))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong_endpoint(text, "neither http nor https"));
    }

    // OTLP's rule for a URL that names the collector only.
    if url.path() == "/" {
        url.set_path("/v1/traces");
    }
    Ok(url.to_string())
}

fn wrong_endpoint(text: &str, what: impl Display) -> String {
    format!(
        "expected a URL such as http://localhost:4318, got `{}` ({what})",
        redact::url(text)
    )
}
