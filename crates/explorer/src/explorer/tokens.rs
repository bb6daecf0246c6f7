//! Routes about tokens.

use alloy_primitives::{Address, U256};
use axum::extract::State;
use tetrad_web::{
    Api, Path, Query, RestError,
    parameters::{UserAddress, parameters},
};

use super::{
    bodies::{HolderBody, InstanceBody, NextPage, TokenBody, TokenCounters, TransferBody},
    filters::{OwnerQuery, PageLimit, TokenKinds},
    index_pages,
    metadata::TokenMetadata,
    page::{Filters, PAGE, Page},
    parameters::{
        ContractAddress, ContractPath, HolderPageQuery, InstancePageQuery, InstancePath, PageQuery,
        TokenPageQuery, Wide, Words,
    },
    render::Render,
    rest::{Body, Explorer, List},
};
use crate::index::{Holder, IndexPage, TokenKind, TokenRecord};

pub(super) fn routes(api: Api<Explorer>) -> Api<Explorer> {
    api.get(
        "/api/v2/tokens",
        tokens,
        "Tokens, in the order of their addresses.",
    )
    .get(
        "/api/v2/tokens/{address}",
        token,
        "A token; 404 if nothing is known of it.",
    )
    .get(
        "/api/v2/tokens/{address}/counters",
        counters,
        "Numbers of a token's holders and transfers.",
    )
    .get(
        "/api/v2/tokens/{address}/transfers",
        transfers,
        "The transfers of a token, newest first.",
    )
    .get(
        "/api/v2/tokens/{address}/holders",
        holders,
        "The holders of a token, the largest first.",
    )
    .get(
        "/api/v2/tokens/{address}/instances",
        instances,
        "The ids of a non-fungible token.",
    )
    .get(
        "/api/v2/tokens/{address}/instances/{id}",
        one_instance,
        "An id of a non-fungible token.",
    )
    .get(
        "/api/v2/tokens/{address}/instances/{id}/transfers",
        instance_transfers,
        "The transfers of an id of a non-fungible token, newest first.",
    )
}

/// Returns whether a name or a symbol has these words in it.
pub(super) fn matches(record: &TokenRecord, words: &str) -> bool {
    let names = [&record.name, &record.symbol];
    names
        .into_iter()
        .flatten()
        .any(|name| name.to_lowercase().contains(words))
}

async fn tokens(
    State(explorer): State<Explorer>,
    Query(position): Query<TokenPageQuery>,
    Query(query): Query<TokenQuery>,
    filters: Filters,
) -> List<TokenBody> {
    let words = query.words.unwrap_or_default().0.to_lowercase();
    let kinds = query.kinds.0;
    let limit = query.limit.0;
    explorer
        .read(move |_, render| {
            let after = position.token.map(|UserAddress(token)| token);
            let found = render.reader.tokens(after, limit, |_, record| {
                (kinds.is_empty() || kinds.contains(&record.kind()))
                    && (words.is_empty() || matches(record, &words))
            })?;

            let mut page = Page::new(limit);
            page.fill(
                found,
                |(token, _)| *token,
                |(token, record)| render.token_body(token, &record).map(Some),
            )?;
            page.finish(filters, |token: Address| NextPage {
                token_contract_address_hash: Some(token.to_checksum(None)),
                ..NextPage::default()
            })
        })
        .await
}

parameters! {
    /// Which tokens are listed.
    struct TokenQuery {
        /// Standards: `ERC-20`, `ERC-721`, `ERC-1155`, separated by commas.
        #[param("type", example = "ERC-20")]
        kinds: TokenKinds,
        /// A part of the name or symbol.
        #[param("q", example = "WETH")]
        words: Option<Words>,
        /// Items at most, up to 50.
        #[param("limit")]
        limit: PageLimit,
    }
}

fn find(render: &Render<'_>, token: Address) -> Result<TokenRecord, RestError> {
    let unknown = || RestError::NotFound(format!("no token {}", token.to_checksum(None)));
    render.reader.token(token)?.ok_or_else(unknown)
}

async fn token(
    State(explorer): State<Explorer>,
    Path(path): Path<ContractPath>,
) -> Body<TokenBody> {
    let ContractAddress(token) = path.address;
    explorer
        .body(move |_, render| Ok(render.token_body(token, &find(render, token)?)?))
        .await
}

async fn counters(
    State(explorer): State<Explorer>,
    Path(path): Path<ContractPath>,
) -> Body<TokenCounters> {
    let ContractAddress(token) = path.address;
    explorer
        .body(move |_, render| {
            find(render, token)?;
            let counts = render.reader.token_counts(token)?;
            Ok(TokenCounters {
                token_holders_count: counts.holders.to_string(),
                transfers_count: counts.token_transfers.to_string(),
            })
        })
        .await
}

async fn transfers(
    State(explorer): State<Explorer>,
    Path(path): Path<ContractPath>,
    Query(position): Query<PageQuery>,
    filters: Filters,
) -> List<TransferBody> {
    let ContractAddress(token) = path.address;
    explorer
        .read(move |_, render| token_transfers(render, token, None, &position, filters))
        .await
}

fn token_transfers(
    render: &Render<'_>,
    token: Address,
    id: Option<U256>,
    position: &PageQuery,
    filters: Filters,
) -> List<TransferBody> {
    find(render, token)?;
    let found = render
        .reader
        .token_transfers(token, id, &position.range(PAGE))?;

    index_pages::transfers(render, found, PAGE, filters)
}

async fn holders(
    State(explorer): State<Explorer>,
    Path(path): Path<ContractPath>,
    Query(position): Query<HolderPageQuery>,
    filters: Filters,
) -> List<HolderBody> {
    let ContractAddress(token) = path.address;
    explorer
        .read(move |_, render| {
            let record = find(render, token)?;
            let found = render.reader.holders(token, position.after(), PAGE)?;
            let by_id = record.kind() == TokenKind::Erc1155;

            // A contract may emit events of several standards.
            let id = |id: U256| (by_id || !id.is_zero()).then(|| id.to_string());
            let body = render.token_body(token, &record)?;

            let mut page = Page::new(PAGE);
            page.fill(
                found,
                |holder| *holder,
                |holder| {
                    Ok::<_, RestError>(Some(HolderBody {
                        address: render.address(holder.address),
                        token: body.clone(),
                        token_id: id(holder.id),
                        value: holder.balance.to_string(),
                    }))
                },
            )?;
            page.finish(filters, |last: Holder| NextPage {
                address_hash: Some(last.address.to_checksum(None)),
                value: Some(last.balance.to_string()),
                token_id: id(last.id),
                ..NextPage::default()
            })
        })
        .await
}

/// Renders an id of a non-fungible token.
pub(super) fn instance(
    render: &Render<'_>,
    token: Address,
    kind: TokenKind,
    id: U256,
    owner: Option<Address>,
) -> Result<InstanceBody, RestError> {
    let TokenMetadata {
        link,
        metadata,
        image,
        animation,
        external,
    } = render.metadata(token, kind, id);
    Ok(InstanceBody {
        id: id.to_string(),
        token: render.token(token, kind)?,
        owner: owner.map(|owner| render.address(owner)),
        is_unique: owner.is_some(),
        token_type: kind.name(),
        value: owner.map(|_| "1".to_owned()),
        metadata,
        image_url: image,
        animation_url: animation,
        external_app_url: external,
        token_uri: link,
    })
}

async fn instances(
    State(explorer): State<Explorer>,
    Path(path): Path<ContractPath>,
    Query(position): Query<InstancePageQuery>,
    Query(query): Query<OwnerQuery>,
    filters: Filters,
) -> List<InstanceBody> {
    let ContractAddress(token) = path.address;
    let after = position.id.map(|Wide(id)| id);
    explorer
        .read(move |_, render| {
            let kind = find(render, token)?.kind();

            let found = match query.owner {
                None => render.reader.instances(token, after, PAGE)?,
                Some(UserAddress(owner)) => {
                    let ids = render
                        .reader
                        .ids_of_owner(owner, token, kind, after, PAGE)?;
                    // An id of ERC-1155 has no single owner.
                    let single = Some(owner).filter(|_| kind != TokenKind::Erc1155);
                    IndexPage {
                        items: ids.items.into_iter().map(|id| (id, single)).collect(),
                        next: ids.next,
                    }
                }
            };

            let mut page = Page::new(PAGE);
            page.fill(
                found,
                |(id, _)| *id,
                |(id, owner)| instance(render, token, kind, id, owner).map(Some),
            )?;
            page.finish(filters, |id| NextPage {
                unique_token: Some(id.to_string()),
                ..NextPage::default()
            })
        })
        .await
}

async fn one_instance(
    State(explorer): State<Explorer>,
    Path(path): Path<InstancePath>,
) -> Body<InstanceBody> {
    let ContractAddress(token) = path.token;
    let Wide(id) = path.id;
    explorer
        .body(move |_, render| {
            let record = find(render, token)?;
            let unknown =
                || RestError::NotFound(format!("no id {id} of token {}", token.to_checksum(None)));
            let owner = render.reader.instance(token, id)?.ok_or_else(unknown)?;
            instance(render, token, record.kind(), id, owner)
        })
        .await
}

async fn instance_transfers(
    State(explorer): State<Explorer>,
    Path(path): Path<InstancePath>,
    Query(position): Query<PageQuery>,
    filters: Filters,
) -> List<TransferBody> {
    let ContractAddress(token) = path.token;
    let Wide(id) = path.id;
    explorer
        .read(move |_, render| token_transfers(render, token, Some(id), &position, filters))
        .await
}
