//! Pages of what the index finds.

use tetrad_web::RestError;

use super::{
    bodies::{InternalBody, NextPage, TransferBody},
    page::{Filters, Page},
    render::{Render, TransferFinder},
    rest::List,
};
use crate::index::{IndexPage, InternalPosition, Position};

/// Returns a page of up to `limit` token transfers.
pub(super) fn transfers(
    render: &Render<'_>,
    found: IndexPage<Position>,
    limit: usize,
    filters: Filters,
) -> List<TransferBody> {
    let mut page = Page::new(limit);
    let mut finder = TransferFinder::default();
    page.fill(
        found,
        |position| *position,
        |position| render.transfer_at(&mut finder, position),
    )?;
    page.finish(filters, NextPage::after)
}

/// Returns a page of up to `limit` internal calls.
pub(super) fn internal_calls(
    render: &Render<'_>,
    found: IndexPage<InternalPosition>,
    limit: usize,
    filters: Filters,
) -> List<InternalBody> {
    let mut page = Page::new(limit);
    page.fill(
        found,
        |found| found.position,
        |found| Ok::<_, RestError>(render.internal(&found)),
    )?;
    page.finish(filters, NextPage::after_internal)
}
