//! Pages of lists under construction. A page ends at its limit of items or of bytes, whichever
//! comes first, and the next one begins after its last item.
//!
//! Items are written as they are found, so that a list of long transactions never exists as a
//! whole.

use std::{collections::BTreeMap, marker::PhantomData, ops::ControlFlow};

use axum::{
    extract::FromRequestParts,
    http::request::Parts,
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tetrad_web::{
    Answer, AnswerError, AnswerWriter, Input, MAX_ANSWER, Operation, Output, RestError,
};

use super::bodies::{ListBody, NextPage};
use crate::index::IndexPage;

/// Items of a page, as many as Blockscout has.
pub(super) const PAGE: usize = 50;

/// The bytes of JSON after which a page takes no further item. A single item may be longer.
const MAX_PAGE_BYTES: usize = 2 << 20;

/// The beginning of a page's JSON.
const BEGINNING: &str = "{\"items\":";

/// JSON with an array of items, one after another, within a limit of bytes.
pub(super) struct ItemWriter {
    out: AnswerWriter,
    count: usize,
    max_bytes: usize,
}

impl ItemWriter {
    /// An empty array, after the beginning of what it is a part of.
    pub(super) fn new(beginning: &str, max_bytes: usize) -> Self {
        let mut out = AnswerWriter::new(MAX_ANSWER);
        // A beginning is short, and there is always room for it.
        let _ = out.push(beginning.as_bytes());
        Self {
            out,
            count: 0,
            max_bytes,
        }
    }

    /// Adds an item, unless there are others and the limit would be exceeded. Returns whether it
    /// was added.
    pub(super) fn push(&mut self, item: &impl Serialize) -> Result<bool, RestError> {
        let end = self.out.length();
        self.out.push(if self.count == 0 { b"[" } else { b"," })?;
        self.out.json(item)?;

        // A page has one item, however long, or its list would never end.
        if self.count > 0 && self.out.length() > self.max_bytes {
            self.out.truncate(end);
            return Ok(false);
        }

        self.count += 1;
        Ok(true)
    }

    /// The number of items.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Ends the array and what it is a part of.
    pub(super) fn finish(mut self, end: &str) -> Result<Answer, AnswerError> {
        self.out.push(if self.count == 0 { b"[]" } else { b"]" })?;
        self.out.push(end.as_bytes())?;
        Ok(self.out.finish())
    }
}

/// A page under construction. `C` says where in the list an item is.
pub(super) struct Page<C> {
    items: ItemWriter,
    limit: usize,
    /// The place of the last item.
    last: Option<C>,
    /// Whether the list goes on.
    more: bool,
}

impl<C> Page<C> {
    /// A page of up to `limit` items.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            items: ItemWriter::new(BEGINNING, MAX_PAGE_BYTES),
            limit,
            last: None,
            more: false,
        }
    }

    /// A list of up to `limit` items that has a single page, an array.
    pub(super) fn array(limit: usize) -> Self {
        Self {
            items: ItemWriter::new("", MAX_PAGE_BYTES),
            limit,
            last: None,
            more: false,
        }
    }

    /// Adds the item at a place of the list, or breaks if there is no room for it: then the list
    /// goes on after the last item that was added. An item that is `None` is left out.
    pub(super) fn push<T: Serialize, E: Into<RestError>>(
        &mut self,
        at: C,
        item: impl FnOnce() -> Result<Option<T>, E>,
    ) -> Result<ControlFlow<()>, RestError> {
        // An item too many shows that there is another page.
        if self.items.count() == self.limit {
            self.more = true;
            return Ok(ControlFlow::Break(()));
        }

        let Some(item) = item().map_err(Into::into)? else {
            return Ok(ControlFlow::Continue(()));
        };
        if !self.items.push(&item)? {
            self.more = true;
            return Ok(ControlFlow::Break(()));
        }

        self.last = Some(at);
        Ok(ControlFlow::Continue(()))
    }

    /// Adds all items of a page of the index for which there is room.
    pub(super) fn fill<I, T: Serialize, E: Into<RestError>>(
        &mut self,
        found: IndexPage<I, C>,
        at: impl Fn(&I) -> C,
        mut render: impl FnMut(I) -> Result<Option<T>, E>,
    ) -> Result<(), RestError> {
        for item in found.items {
            if self.push(at(&item), || render(item))?.is_break() {
                return Ok(());
            }
        }

        if let Some(next) = found.next {
            self.suspend(next);
        }
        Ok(())
    }

    /// Ends the page before it is full: the list goes on after this place.
    pub(super) fn suspend(&mut self, at: C) {
        self.last = Some(at);
        self.more = true;
    }

    /// Ends the page. `next` says how the next page begins after a place, and `filters` apply there
    /// as well.
    pub(super) fn finish<T>(
        self,
        filters: Filters,
        next: impl FnOnce(C) -> NextPage,
    ) -> Result<PageBody<T>, RestError> {
        let items_count = self.items.count();
        let next_page_params = self.last.filter(|_| self.more).map(|last| NextPage {
            items_count,
            filters: filters.0,
            ..next(last)
        });
        let next_page_params = json!(next_page_params);
        let json = self
            .items
            .finish(&format!(",\"next_page_params\":{next_page_params}}}"))?;
        Ok(PageBody {
            json,
            items: PhantomData,
        })
    }

    /// Ends a list that was begun as an array.
    pub(super) fn into_array<T>(self) -> Result<ArrayBody<T>, RestError> {
        let json = self.items.finish("")?;
        Ok(ArrayBody {
            json,
            items: PhantomData,
        })
    }
}

impl Page<u64> {
    /// Adds the items of a list after its first `offset`, as far as there is room. The place of an
    /// item is its number, from one on.
    pub(super) fn fill_from<I, T: Serialize, E: Into<RestError>>(
        &mut self,
        offset: usize,
        items: impl Iterator<Item = I>,
        render: impl Fn(I) -> Result<T, E>,
    ) -> Result<(), RestError> {
        for (number, item) in (1..).zip(items).skip(offset) {
            if self.push(number, || render(item).map(Some))?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// A finished page with items of type `T`.
pub(super) struct PageBody<T> {
    json: Answer,
    items: PhantomData<fn() -> T>,
}

/// A finished array with items of type `T`.
pub(super) struct ArrayBody<T> {
    json: Answer,
    items: PhantomData<fn() -> T>,
}

impl<T> IntoResponse for PageBody<T> {
    fn into_response(self) -> Response {
        self.json.into_no_cache_json()
    }
}

impl<T> IntoResponse for ArrayBody<T> {
    fn into_response(self) -> Response {
        self.json.into_no_cache_json()
    }
}

impl<T: JsonSchema> Output for PageBody<T> {
    fn describe(operation: Operation) -> Operation {
        operation.returns::<ListBody<T>>()
    }
}

impl<T: JsonSchema> Output for ArrayBody<T> {
    fn describe(operation: Operation) -> Operation {
        operation.returns::<Vec<T>>()
    }
}

/// The filters of a request as it wrote them, which the next page repeats: everything in the query
/// that neither names a position nor is without effect.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Filters(BTreeMap<String, String>);

/// Parameters that name a position in a list.
const POSITION: [&str; 9] = [
    "block_number",
    "transaction_index",
    "index",
    "index_in_batch",
    "address_hash",
    "token_contract_address_hash",
    "token_id",
    "unique_token",
    "value",
];

/// Parameters without effect: Blockscout's for keys, and the number of items of the page before.
pub(super) const WITHOUT_EFFECT: [&str; 3] = ["apikey", "key", "items_count"];

impl Filters {
    fn of_query(query: &str) -> Self {
        let mut filters = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let is_filter = !POSITION.contains(&&*name) && !WITHOUT_EFFECT.contains(&&*name);
            if is_filter && !value.is_empty() {
                // Of several parameters with one name the first counts.
                filters
                    .entry(name.into_owned())
                    .or_insert_with(|| value.into_owned());
            }
        }
        Self(filters)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Filters {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::of_query(parts.uri.query().unwrap_or_default()))
    }
}

impl<S> Input<S> for Filters {}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(page: Page<u64>) -> serde_json::Value {
        let filters = Filters::of_query("filter=to&block_number=7&filter=from&apikey=x&type=");
        let body = page.finish::<String>(filters, |at| NextPage {
            block_number: Some(at),
            ..NextPage::default()
        });
        serde_json::from_slice(body.unwrap().json.bytes()).unwrap()
    }

    fn push(page: &mut Page<u64>, at: u64, item: &str) -> bool {
        page.push(at, || Ok::<_, RestError>(Some(item)))
            .unwrap()
            .is_continue()
    }

    #[test]
    fn a_page_goes_on_after_its_last_item_whatever_ended_it() {
        let mut page = Page::new(2);
        assert!(push(&mut page, 3, "a") && push(&mut page, 2, "b"));
        assert!(!push(&mut page, 1, "c"));
        let next = serde_json::json!({ "block_number": 2, "items_count": 2, "filter": "to" });
        assert_eq!(
            body(page),
            serde_json::json!({ "items": ["a", "b"], "next_page_params": next })
        );

        let long = "x".repeat(MAX_PAGE_BYTES);
        let mut page = Page::new(9);
        assert!(
            push(&mut page, 3, &long),
            "a page has one item, however long it is"
        );
        assert!(!push(&mut page, 2, "b"));
        let body_of_one = body(page);
        assert_eq!(body_of_one["items"].as_array().map(Vec::len), Some(1));
        assert_eq!(body_of_one["next_page_params"]["block_number"], 3);

        let mut page = Page::new(9);
        assert!(push(&mut page, 3, "a"));
        assert!(
            !push(&mut page, 2, &long),
            "an item that does not fit is left to the next page"
        );
        assert_eq!(body(page)["items"], serde_json::json!(["a"]));
    }

    #[test]
    fn a_list_that_ends_has_no_next_page_unless_it_was_suspended() {
        let mut page = Page::new(1);
        assert!(push(&mut page, 3, "a"));
        assert!(body(page)["next_page_params"].is_null());

        let mut page = Page::new(1);
        page.suspend(9);
        assert_eq!(body(page)["next_page_params"]["block_number"], 9);
    }
}
