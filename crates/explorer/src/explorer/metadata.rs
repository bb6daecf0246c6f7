//! The metadata of an id of a non-fungible token: the JSON and the picture to which its URI
//! leads, as far as they are on the chain.
//!
//! The node reads `data:` URIs only. It follows no other, so that no contract can make it send
//! requests; they are handed to the client as links. A contract returns whatever it likes: gas,
//! bytes and depth of all that one answer reads are bounded together.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::{SolCall, SolValue, sol};
use base64ct::{Base64, Base64Unpadded, Encoding};
use percent_encoding::percent_decode_str;
use revm::context_interface::result::ExecutionResult;
use serde_json::Value;
use tetrad_chain::View;
use tetrad_evm::{Call, StateOverrides, TimeLimit};
use tetrad_stdx::nesting::MAX_NESTING;

use crate::index::TokenKind;

/// The gas of all reads of URIs for one answer. Contracts that draw their pictures take up to a
/// few millions each.
const GAS_PER_ANSWER: u64 = 30_000_000;
/// The same on a fork, where each slot may be a request to the other node.
const GAS_PER_ANSWER_ON_A_FORK: u64 = 1_000_000;
/// The time of all reads for one answer.
const TIME_PER_ANSWER: Duration = Duration::from_secs(2);
/// The most gas of one read.
const GAS_PER_READ: u64 = 10_000_000;
/// The least gas of a call.
const LEAST_GAS: u64 = 21_000;
/// The bytes of all URIs in one answer.
const BYTES_PER_ANSWER: usize = 512 * 1024;
/// The most bytes of a link. Browsers take no longer ones.
const MAX_LINK: usize = 2_048;

sol! {
    function tokenURI(uint256 id) external view returns (string);
    function uri(uint256 id) external view returns (string);
}

/// The rest of the limits of one answer.
pub(super) struct MetadataBudget {
    gas: Cell<u64>,
    bytes: Cell<usize>,
    deadline: Instant,
}

/// The metadata of an id. All of its text is untrusted.
#[derive(Debug, Default, PartialEq)]
pub(super) struct TokenMetadata {
    /// The URI, unless its content is in `metadata` and `image`.
    pub(super) link: Option<String>,
    /// The JSON, an object.
    pub(super) metadata: Option<Value>,
    /// The URL of a picture: `data:image/…` or a link.
    pub(super) image: Option<String>,
    pub(super) animation: Option<String>,
    pub(super) external: Option<String>,
}

impl MetadataBudget {
    pub(super) fn new(view: &View) -> Self {
        let is_fork = view.state.base().is_some();
        Self {
            gas: Cell::new(if is_fork {
                GAS_PER_ANSWER_ON_A_FORK
            } else {
                GAS_PER_ANSWER
            }),
            bytes: Cell::new(BYTES_PER_ANSWER),
            deadline: Instant::now() + TIME_PER_ANSWER,
        }
    }

    /// Reads what a token says of an id; nothing if its contract has no such function, or if what
    /// it returns exceeds what is left.
    pub(super) fn read(
        &self,
        view: &View,
        token: Address,
        kind: TokenKind,
        id: U256,
    ) -> TokenMetadata {
        let input = match kind {
            TokenKind::Erc1155 => uriCall { id }.abi_encode(),
            TokenKind::Erc20 | TokenKind::Erc721 => tokenURICall { id }.abi_encode(),
        };
        let Some(output) = self.output(view, token, input) else {
            return TokenMetadata::default();
        };

        let left = self.bytes.get();
        let Some(uri) = String::abi_decode(&output)
            .ok()
            .filter(|uri| uri.len() <= left)
        else {
            return TokenMetadata::default();
        };
        self.bytes.set(left - uri.len());
        describe(&uri, id)
    }

    /// Calls a contract with the gas that is left.
    fn output(&self, view: &View, token: Address, input: Vec<u8>) -> Option<Bytes> {
        let limit = self.gas.get().min(GAS_PER_READ);
        if limit < LEAST_GAS {
            return None;
        }

        let overrides = StateOverrides::new();
        let call = Call {
            to: Some(token),
            input: input.into(),
            ..Call::default()
        };
        let deadline = self.deadline;
        let out_of_time = || Instant::now() > deadline;
        let calls = view
            .call_context(&overrides, limit)
            .within(TimeLimit::new(&out_of_time, &out_of_time));
        let Ok(result) = calls.call(&call) else {
            // Out of time, or the other node of a fork does not answer: nor will it for the next id.
            self.gas.set(0);
            return None;
        };

        self.gas
            .set(self.gas.get().saturating_sub(result.tx_gas_used()));
        match result {
            ExecutionResult::Success { output, .. } => Some(output.into_data()),
            _ => None,
        }
    }
}

/// The metadata to which a URI leads, as far as it is in the URI itself.
fn describe(uri: &str, id: U256) -> TokenMetadata {
    let uri = uri.trim();
    let Some(data) = DataUri::parse(uri) else {
        if uri.len() > MAX_LINK {
            return TokenMetadata::default();
        }
        // EIP-1155: clients put the id in place of this, in 64 digits.
        let named = uri.replace("{id}", &format!("{id:064x}"));
        return TokenMetadata {
            link: link(&named),
            ..TokenMetadata::default()
        };
    };
    if data.is_image() {
        return TokenMetadata {
            image: Some(uri.to_owned()),
            ..TokenMetadata::default()
        };
    }

    let object = data
        .content()
        .and_then(|json| serde_json::from_slice::<Value>(&json).ok())
        .filter(|value| value.is_object() && is_shallow(value, MAX_NESTING));
    let Some(metadata) = object else {
        return TokenMetadata::default();
    };

    TokenMetadata {
        link: None,
        image: text_in(&metadata, &["image", "image_url", "image_data"]).and_then(picture),
        animation: text_in(&metadata, &["animation_url"]).and_then(link),
        external: text_in(&metadata, &["external_url"]).and_then(link),
        metadata: Some(metadata),
    }
}

/// The text of the first of these members that has one.
fn text_in<'a>(metadata: &'a Value, names: &[&str]) -> Option<&'a str> {
    names
        .iter()
        .find_map(|name| metadata.get(name)?.as_str())
        .map(str::trim)
}

/// The URL of a picture, which may be given as SVG itself.
fn picture(text: &str) -> Option<String> {
    if text.starts_with("<svg") {
        let encoded = Base64::encode_string(text.as_bytes());
        return Some(format!("data:image/svg+xml;base64,{encoded}"));
    }

    match DataUri::parse(text) {
        Some(data) => data.is_image().then(|| text.to_owned()),
        None => link(text),
    }
}

/// A link that may be shown; `None` for others, such as `javascript:`.
fn link(text: &str) -> Option<String> {
    let is_known = ["https://", "http://", "ipfs://", "ar://"]
        .iter()
        .any(|scheme| text.starts_with(scheme));
    let is_plain = text.len() <= MAX_LINK && !text.chars().any(char::is_control);
    (is_known && is_plain).then(|| text.to_owned())
}

/// Whether a value nests no deeper than this number of levels.
fn is_shallow(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|one| is_shallow(one, levels - 1)),
        Value::Object(members) => {
            levels > 0 && members.values().all(|one| is_shallow(one, levels - 1))
        }
        _ => true,
    }
}

/// A URI with its content (RFC 2397): `data:application/json;base64,e30=`.
struct DataUri<'a> {
    media_type: &'a str,
    is_base64: bool,
    encoded: &'a str,
}

impl<'a> DataUri<'a> {
    fn parse(uri: &'a str) -> Option<Self> {
        let scheme = uri.get(..5)?;
        if !scheme.eq_ignore_ascii_case("data:") {
            return None;
        }

        let (head, encoded) = uri[5..].split_once(',')?;
        let mut parameters = head.split(';');
        Some(Self {
            media_type: parameters.next().unwrap_or_default(),
            is_base64: parameters.any(|one| one.trim().eq_ignore_ascii_case("base64")),
            encoded,
        })
    }

    fn is_image(&self) -> bool {
        let kind = self.media_type.get(..6).unwrap_or_default();
        kind.eq_ignore_ascii_case("image/")
    }

    fn content(&self) -> Option<Vec<u8>> {
        if self.is_base64 {
            let digits = self.encoded.trim_end_matches('=');
            return Base64Unpadded::decode_vec(digits).ok();
        }
        // A lone `%` stands for itself, as contracts often leave it.
        Some(percent_decode_str(self.encoded).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn described(uri: &str) -> TokenMetadata {
        describe(uri, U256::from(10))
    }

    #[test]
    fn content_is_read_from_the_uri_however_it_is_encoded() {
        let json = r#"{"name":"A 100%+1 é","image":"data:image/svg+xml;utf8,<svg/>"}"#;
        let encoded = Base64::encode_string(json.as_bytes());
        for uri in [
            format!("data:application/json;base64,{encoded}"),
            format!(
                "data:application/json;base64,{}",
                encoded.trim_end_matches('=')
            ),
            format!("data:application/json;utf8,{json}"),
            format!("DATA:,{}", json.replace(' ', "%20").replace('"', "%22")),
        ] {
            let found = described(&uri);
            assert_eq!(found.metadata.as_ref().expect(&uri)["name"], "A 100%+1 é");
            assert_eq!(
                found.image.as_deref(),
                Some("data:image/svg+xml;utf8,<svg/>")
            );
            assert_eq!(found.link, None);
        }

        let svg = described("data:application/json,{\"image_data\":\"<svg></svg>\"}");
        assert_eq!(
            svg.image.as_deref(),
            Some("data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=")
        );
        let image = described("data:image/png;base64,AA==");
        assert_eq!(image.image.as_deref(), Some("data:image/png;base64,AA=="));
    }

    #[test]
    fn other_uris_stay_links_and_only_some_of_them() {
        assert_eq!(
            described("ipfs://cid/{id}.json").link.as_deref(),
            Some(&*format!("ipfs://cid/{:0>64}.json", "a"))
        );
        for uri in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://a\nb",
            "",
            "é",
        ] {
            assert_eq!(described(uri), TokenMetadata::default(), "{uri}");
        }
        assert_eq!(
            described(&format!("https://{}", "a".repeat(3_000))).link,
            None
        );

        let members = json!({
            "image": "javascript:alert(1)",
            "external_url": "https://a.example/1",
            "animation_url": "data:text/html,<script>",
        });
        let found = described(&format!("data:application/json,{members}"));
        assert_eq!(found.image, None);
        assert_eq!(found.animation, None);
        assert_eq!(found.external.as_deref(), Some("https://a.example/1"));
    }

    #[test]
    fn what_is_no_object_or_too_deep_is_left_out() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100), "]".repeat(100));
        for json in ["[]", "1", "{", "null", &deep] {
            let found = described(&format!("data:application/json,{json}"));
            assert_eq!(found, TokenMetadata::default(), "{json}");
        }
        assert_eq!(
            described("data:application/json;base64,***"),
            TokenMetadata::default()
        );
    }
}
