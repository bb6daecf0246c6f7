//! Routes about tokens.

use alloy_primitives::{Address, U256};
use axum::extract::State;

use super::{
    bodies::{HolderBody, InstanceBody, ListBody, NextPage, TokenBody, TokenCounters, TransferBody},
    parameters::{
        ContractAddress, ContractPath, HolderPageQuery, InstancePageQuery, InstancePath, KindQuery, PAGE, PageQuery,
        TokenPageQuery, Wide,
    },
    render::Render,
    rest::{Body, Explorer},
};
use crate::{
    index::{TokenKind, TokenRecord},
    web::{Api, Path, Query, RestError, parameters::UserAddress},
};

pub(super) fn routes(api: Api<Explorer>) -> Api<Explorer> {
    api.get("/api/v2/tokens", tokens, "Tokens, in the order of their addresses.")
        .get("/api/v2/tokens/{address}", token, "A token; 404 if nothing is known of it.")
        .get("/api/v2/tokens/{address}/counters", counters, "Numbers of a token's holders and transfers.")
        .get("/api/v2/tokens/{address}/transfers", transfers, "The transfers of a token, newest first.")
        .get("/api/v2/tokens/{address}/holders", holders, "The holders of a token, the largest first.")
        .get("/api/v2/tokens/{address}/instances", instances, "The ids of a non-fungible token.")
        .get("/api/v2/tokens/{address}/instances/{id}", one_instance, "An id of a non-fungible token.")
        .get(
            "/api/v2/tokens/{address}/instances/{id}/transfers",
            instance_transfers,
            "The transfers of an id of a non-fungible token, newest first.",
        )
}

/// Returns whether a name or a symbol has these words in it.
pub(super) fn matches(record: &TokenRecord, words: &str) -> bool {
    let names = [&record.name, &record.symbol];
    names.into_iter().flatten().any(|name| name.to_lowercase().contains(words))
}

async fn tokens(
    State(explorer): State<Explorer>,
    Query(page): Query<TokenPageQuery>,
    Query(query): Query<KindQuery>,
    Query(search): Query<OptionalWords>,
) -> Body<ListBody<TokenBody>> {
    let words = search.words.unwrap_or_default().0.to_lowercase();
    explorer
        .body(move |_, render| {
            let kinds = query.kinds.0;
            let is_wanted = |_: Address, record: &TokenRecord| {
                (kinds.is_empty() || kinds.contains(&record.kind())) && (words.is_empty() || matches(record, &words))
            };
            let after = page.token.map(|UserAddress(token)| token);
            let mut found = render.reader.tokens(after, PAGE + 1, is_wanted)?;
            let more = found.len() > PAGE;
            found.truncate(PAGE);
            let next_page_params = found.last().filter(|_| more).map(|(token, _)| NextPage {
                token_contract_address_hash: Some(token.to_checksum(None)),
                items_count: found.len(),
                ..NextPage::default()
            });
            let items = found.iter().map(|(token, record)| render.token_body(*token, record));
            Ok(ListBody { items: items.collect::<Result<_, _>>()?, next_page_params })
        })
        .await
}

crate::web::parameters::parameters! {
    /// Words in names.
    pub(super) struct OptionalWords {
        /// A part of the name or symbol.
        #[param("q", example = "WETH")]
        pub(super) words: Option<super::parameters::Words>,
    }
}

fn find(render: &Render<'_>, token: Address) -> Result<TokenRecord, RestError> {
    let unknown = || RestError::NotFound(format!("no token {}", token.to_checksum(None)));
    render.reader.token(token)?.ok_or_else(unknown)
}

async fn token(State(explorer): State<Explorer>, Path(path): Path<ContractPath>) -> Body<TokenBody> {
    let ContractAddress(token) = path.address;
    explorer.body(move |_, render| Ok(render.token_body(token, &find(render, token)?)?)).await
}

async fn counters(State(explorer): State<Explorer>, Path(path): Path<ContractPath>) -> Body<TokenCounters> {
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
    Query(page): Query<PageQuery>,
) -> Body<ListBody<TransferBody>> {
    let ContractAddress(token) = path.address;
    explorer.body(move |_, render| token_transfers(render, token, None, &page)).await
}

fn token_transfers(
    render: &Render<'_>,
    token: Address,
    id: Option<U256>,
    page: &PageQuery,
) -> Result<ListBody<TransferBody>, RestError> {
    find(render, token)?;
    let page = render.reader.token_transfers(token, id, &page.range())?;
    let items = render.transfers(&page)?;
    Ok(ListBody { next_page_params: NextPage::after(page.next, items.len()), items })
}

async fn holders(
    State(explorer): State<Explorer>,
    Path(path): Path<ContractPath>,
    Query(page): Query<HolderPageQuery>,
) -> Body<ListBody<HolderBody>> {
    let ContractAddress(token) = path.address;
    explorer
        .body(move |_, render| {
            let record = find(render, token)?;
            let mut found = render.reader.holders(token, page.after(), PAGE + 1)?;
            let more = found.len() > PAGE;
            found.truncate(PAGE);
            let by_id = record.kind() == TokenKind::Erc1155;
            // A contract may emit events of several standards.
            let id = |id: U256| (by_id || !id.is_zero()).then(|| id.to_string());
            let next_page_params = found.last().filter(|_| more).map(|last| NextPage {
                address_hash: Some(last.address.to_checksum(None)),
                value: Some(last.balance.to_string()),
                token_id: id(last.id),
                items_count: found.len(),
                ..NextPage::default()
            });
            let token = render.token_body(token, &record)?;
            let items = found.iter().map(|holder| HolderBody {
                address: render.address(holder.address),
                token: token.clone(),
                token_id: id(holder.id),
                value: holder.balance.to_string(),
            });
            Ok(ListBody { items: items.collect(), next_page_params })
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
    Ok(InstanceBody {
        id: id.to_string(),
        token: render.token(token, kind)?,
        owner: owner.map(|owner| render.address(owner)),
        is_unique: owner.is_some(),
        token_type: kind.name(),
        value: owner.map(|_| "1".to_owned()),
        metadata: None,
        image_url: None,
        animation_url: None,
        external_app_url: None,
    })
}

async fn instances(
    State(explorer): State<Explorer>,
    Path(path): Path<ContractPath>,
    Query(page): Query<InstancePageQuery>,
) -> Body<ListBody<InstanceBody>> {
    let ContractAddress(token) = path.address;
    explorer
        .body(move |_, render| {
            let record = find(render, token)?;
            let mut found = render.reader.instances(token, page.id.map(|Wide(id)| id), PAGE + 1)?;
            let more = found.len() > PAGE;
            found.truncate(PAGE);
            let next_page_params = found.last().filter(|_| more).map(|(id, _)| NextPage {
                unique_token: Some(id.to_string()),
                items_count: found.len(),
                ..NextPage::default()
            });
            let items = found.iter().map(|(id, owner)| instance(render, token, record.kind(), *id, *owner));
            Ok(ListBody { items: items.collect::<Result<_, _>>()?, next_page_params })
        })
        .await
}

async fn one_instance(State(explorer): State<Explorer>, Path(path): Path<InstancePath>) -> Body<InstanceBody> {
    let (ContractAddress(token), Wide(id)) = (path.token, path.id);
    explorer
        .body(move |_, render| {
            let record = find(render, token)?;
            let unknown = || RestError::NotFound(format!("no id {id} of token {}", token.to_checksum(None)));
            let owner = render.reader.instance(token, id)?.ok_or_else(unknown)?;
            instance(render, token, record.kind(), id, owner)
        })
        .await
}

async fn instance_transfers(
    State(explorer): State<Explorer>,
    Path(path): Path<InstancePath>,
    Query(page): Query<PageQuery>,
) -> Body<ListBody<TransferBody>> {
    let (ContractAddress(token), Wide(id)) = (path.token, path.id);
    explorer.body(move |_, render| token_transfers(render, token, Some(id), &page)).await
}
