//! A call of one of CometBFT's methods: its parameters, and the blocks that they name.

use std::sync::Arc;

use alloy_primitives::{B256, hex};
use base64ct::{Base64, Encoding};
use serde_json::Value;
use tetrad_chain::{BlockId, Head};
use tetrad_primitives::block::Block;
use tetrad_web::json_rpc::{INTERNAL_ERROR, INVALID_PARAMS};

use super::{Gateway, comet_params::CometParams, event_query::EventQuery, tx_lookup::SearchPage};

/// Results on a page of a search unless the request says otherwise, and at most, as in CometBFT.
const PER_PAGE: u64 = 30;
const MAX_PER_PAGE: u64 = 100;

/// The type of a parameter, which decides how it is written in a `GET`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CometType {
    /// A text, in quotes.
    Text,
    /// A number, with quotes or without.
    Number,
    /// `true` or `false`.
    Flag,
    /// Bytes that JSON has in hex: `0x…`, or digits in quotes.
    Hex,
    /// Bytes that JSON has in base64: `0x…`, or the bytes themselves in quotes.
    Bytes,
}

/// The error of a method: a JSON-RPC code and its reason.
pub(super) type CometFailure = (i32, String);

/// A request for a method, and the chain's newest block.
pub(super) struct CometCall {
    pub(super) gateway: Gateway,
    pub(super) head: Arc<Head>,
    /// The names and types of the method's parameters, in their order.
    pub(super) parameters: &'static [(&'static str, CometType)],
    pub(super) params: CometParams,
}

impl CometCall {
    /// A parameter, passed by name or by position. Null counts as absent.
    fn parameter(&self, name: &str) -> Option<&Value> {
        self.params.get(
            name,
            self.parameters.iter().position(|(known, _)| *known == name),
        )
    }

    /// A string parameter; empty if absent.
    pub(super) fn text(&self, name: &str) -> Result<&str, CometFailure> {
        match self.parameter(name) {
            None => Ok(""),
            Some(value) => value
                .as_str()
                .ok_or_else(|| (INVALID_PARAMS, format!("{name}: expected a text"))),
        }
    }

    /// A number, written as a JSON number or string.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, CometFailure> {
        let Some(value) = self.parameter(name) else {
            return Ok(None);
        };
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        number
            .map(Some)
            .ok_or_else(|| (INVALID_PARAMS, format!("{name}: expected a number")))
    }

    /// A hash, in hex or in base64, which CometBFT's own clients use.
    pub(super) fn hash(&self) -> Result<B256, CometFailure> {
        let text = self.text("hash")?;
        let bytes = hex::decode(text)
            .ok()
            .filter(|bytes| bytes.len() == 32)
            .or_else(|| Base64::decode_vec(text).ok());
        bytes
            .and_then(|bytes| B256::try_from(&bytes[..]).ok())
            .ok_or_else(|| (INVALID_PARAMS, "hash: expected 32 bytes".to_owned()))
    }

    /// A transaction, in base64 or, as in a URI, in hex.
    pub(super) fn tx(&self) -> Result<Vec<u8>, CometFailure> {
        let text = self.text("tx")?;
        let decoded = match text.strip_prefix("0x") {
            Some(digits) => hex::decode(digits).ok(),
            None => Base64::decode_vec(text).ok(),
        };
        decoded.ok_or_else(|| (INVALID_PARAMS, "tx: expected base64".to_owned()))
    }

    /// The query of a search.
    pub(super) fn query(&self) -> Result<EventQuery, CometFailure> {
        EventQuery::parse(self.text("query")?)
            .map_err(|what| (INVALID_PARAMS, format!("query: {what}")))
    }

    /// The page that a search asks for.
    pub(super) fn page(&self, newest_first: bool) -> Result<SearchPage, CometFailure> {
        let page = self.number("page")?.unwrap_or(1);
        if page == 0 {
            return Err((
                INTERNAL_ERROR,
                "page should be within [1, ...] range, given 0".to_owned(),
            ));
        }

        let limit = self
            .number("per_page")?
            .filter(|limit| *limit > 0)
            .unwrap_or(PER_PAGE)
            .min(MAX_PER_PAGE);

        let newest_first = match self.text("order_by")? {
            "" => newest_first,
            "asc" => false,
            "desc" => true,
            _ => {
                return Err((
                    INTERNAL_ERROR,
                    "expected order_by to be either `asc` or `desc` or empty".to_owned(),
                ));
            }
        };

        let skip = usize::try_from((page - 1).saturating_mul(limit)).unwrap_or(usize::MAX);
        Ok(SearchPage {
            skip,
            limit: limit as usize,
            newest_first,
        })
    }

    /// Refuses a page after the last one.
    pub(super) fn check_page(&self, page: SearchPage, total: usize) -> Result<(), CometFailure> {
        if page.skip == 0 || page.skip < total {
            return Ok(());
        }
        let pages = total.div_ceil(page.limit).max(1);
        let asked = page.skip / page.limit + 1;
        Err((
            INTERNAL_ERROR,
            format!("page should be within [1, {pages}] range, given {asked}"),
        ))
    }

    /// The block at the height that the request names, by default the newest one.
    pub(super) fn block(&self) -> Result<Arc<Block>, CometFailure> {
        block_at(
            &self.gateway,
            &self.head,
            self.number("height")?.unwrap_or(self.head.number()),
        )
    }

    pub(super) fn block_by_hash(&self) -> Result<Option<Arc<Block>>, CometFailure> {
        let block = self
            .gateway
            .chain
            .block(&self.head, BlockId::Hash(self.hash()?));
        block.map_err(|error| (INTERNAL_ERROR, error.to_string()))
    }
}

pub(super) fn block_at(
    gateway: &Gateway,
    head: &Arc<Head>,
    number: u64,
) -> Result<Arc<Block>, CometFailure> {
    if number > head.number() {
        let newest = head.number();
        let what = format!(
            "height {number} must be less than or equal to the current blockchain height {newest}"
        );
        return Err((INTERNAL_ERROR, what));
    }
    let block = gateway
        .chain
        .block(head, BlockId::Number(number))
        .map_err(|error| (INTERNAL_ERROR, error.to_string()))?;
    block.ok_or_else(|| {
        let oldest = gateway.chain.oldest(head);
        (
            INTERNAL_ERROR,
            format!("height {number} is not available, lowest height is {oldest}"),
        )
    })
}
