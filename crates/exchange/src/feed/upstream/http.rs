//! Polling over HTTP.

use std::borrow::Cow;

use reqwest::{Certificate, Client, redirect::Policy};
use rustls::pki_types::CertificateDer;
use tetrad_network::network::Token;
use tetrad_stdx::{causes::with_causes, tls};

use super::{MAX_ANSWER, SharedUpstream, UpstreamConfig, circuit::backoff};
use crate::{feed::json_path::fill, quote::key};

/// A client with timeouts that trusts these authorities in addition to the system's and follows no
/// redirects.
pub(super) fn client(
    config: &UpstreamConfig,
    authorities: &[CertificateDer<'_>],
) -> Result<Client, String> {
    let agent = concat!("tetrad/", env!("CARGO_PKG_VERSION"));
    let authorities = authorities
        .iter()
        .map(|authority| Certificate::from_der(authority));
    let authorities = authorities
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| with_causes(&error))?;

    tls::install_provider();
    let mut builder = Client::builder()
        .timeout(config.timeout)
        .redirect(Policy::none())
        .user_agent(agent)
        .no_proxy();
    if !authorities.is_empty() {
        builder = builder.tls_certs_merge(authorities);
    }
    builder.build().map_err(|error| with_causes(&error))
}

/// Requests the prices of all tokens, with immediate retries. Prices for some of the tokens count
/// as success.
pub(super) async fn poll(upstream: &SharedUpstream, client: &Client) -> Result<(), String> {
    let mut attempt = 0;
    loop {
        let error = match ask(upstream, client).await {
            Ok(()) => {
                upstream.succeed();
                return Ok(());
            }
            Err(error) => error,
        };
        if attempt >= upstream.config.retries {
            return Err(error);
        }
        tokio::time::sleep(backoff(&upstream.config, attempt)).await;
        attempt += 1;
    }
}

async fn ask(upstream: &SharedUpstream, client: &Client) -> Result<(), String> {
    let url = upstream.url.as_str();
    let tokens = &upstream.network.tokens;
    let has_token = ["{symbol}", "{id}", "{address}"]
        .iter()
        .any(|name| url.contains(name));

    let mut found = 0;
    if has_token {
        let mut failure = None;
        for (position, token) in tokens.iter().enumerate() {
            match fetch(client, &fill(url, token)).await {
                Ok(body) => found += upstream.hear(&body, std::iter::once(position)),
                Err(error) => failure = Some(error),
            }
        }
        // One unknown token must not cost the prices of the others.
        if let Some(error) = failure.filter(|_| found == 0) {
            return Err(error);
        }
    } else {
        let body = fetch(client, &fill_all(url, tokens)).await?;
        found = upstream.hear(&body, 0..tokens.len());
    }

    if found == 0 {
        Err(format!("no price at {} in the answer", upstream.path))
    } else {
        Ok(())
    }
}

/// Replaces the placeholders of a URL with the names of all tokens.
fn fill_all<'a>(url: &'a str, tokens: &[Token]) -> Cow<'a, str> {
    if !url.contains('{') {
        return url.into();
    }
    let join = |name: fn(&Token) -> String| tokens.iter().map(name).collect::<Vec<_>>().join(",");
    let url = url.replace("{symbols}", &join(|token| token.symbol.clone()));
    let url = url.replace("{ids}", &join(|token| token.coin_gecko_id.clone()));
    url.replace("{addresses}", &join(|token| key(token.address)))
        .into()
}

/// The body of a successful answer within the size limit.
async fn fetch(client: &Client, url: &str) -> Result<String, String> {
    let request = client.get(url).header("accept", "application/json");
    // The URL may hold a key: the message does without it.
    let failed = |error: reqwest::Error| with_causes(&error.without_url());
    let mut response = request.send().await.map_err(failed)?;
    if response.status().is_redirection() {
        return Err(format!(
            "the answer is {}, and redirects are not followed",
            response.status()
        ));
    }
    if !response.status().is_success() {
        return Err(format!("the answer is {}", response.status()));
    }

    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err(format!("the answer has more than {MAX_ANSWER} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    String::from_utf8(body).map_err(|_| "the answer is not UTF-8".to_owned())
}
