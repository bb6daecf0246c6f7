//! Routes about an address.

use alloy_primitives::{Address, U256};
use axum::extract::State;

use super::{
    bodies::{
        AddressBody, AddressCounters, AddressParam, InstanceBody, InternalBody, ListBody, LogBody, NextPage,
        TabCounters, TokenBalance, TransactionBody, TransferBody,
    },
    logs,
    parameters::{
        AddressPath, DirectionQuery, InternalPageQuery, KindQuery, PAGE, PageQuery, TokenPageQuery, TransferQuery,
    },
    render::Render,
    rest::{Body, Explorer},
    tokens::instance,
};
use crate::{
    index::{OwnedToken, TokenKind, TransferRole},
    web::{Api, Path, Query, RestError, parameters::UserAddress},
};

/// The largest number that the counters of tabs tell apart, as in Blockscout.
const MANY: usize = 51;

pub(super) fn routes(api: Api<Explorer>) -> Api<Explorer> {
    api.get("/api/v2/addresses/{address}", address, "An address: balance, creation, token.")
        .get("/api/v2/addresses/{address}/counters", counters, "Numbers of an address's transactions and transfers.")
        .get("/api/v2/addresses/{address}/tabs-counters", tabs, "Numbers for the tabs of an address's page, up to 51.")
        .get("/api/v2/addresses/{address}/transactions", transactions, "An address's transactions, newest first.")
        .get("/api/v2/addresses/{address}/token-transfers", transfers, "An address's token transfers, newest first.")
        .get(
            "/api/v2/addresses/{address}/internal-transactions",
            internal,
            "Calls that contracts made from or to an address, newest first.",
        )
        .get("/api/v2/addresses/{address}/logs", address_logs, "The logs of a contract, newest first.")
        .get("/api/v2/addresses/{address}/tokens", tokens, "The tokens that an address holds.")
        .get("/api/v2/addresses/{address}/token-balances", balances, "All tokens that an address holds, up to 1,000.")
        .get("/api/v2/addresses/{address}/nft", instances, "The ERC-721 tokens that an address owns.")
}

async fn address(State(explorer): State<Explorer>, Path(path): Path<AddressPath>) -> Body<AddressBody> {
    let UserAddress(address) = path.address;
    explorer.body(move |shared, render| render_address(address, shared.chain.head().number(), render)).await
}

fn render_address(address: Address, newest: u64, render: &Render<'_>) -> Result<AddressBody, RestError> {
    let account = render.reader.account(address)?;
    let param: AddressParam = render.address(address);
    let state = &render.view().state;
    let balance = state.balance(address).map_err(|error| RestError::Internal(error.to_string()))?;
    let creation = account.creation.and_then(|(creator, position)| {
        let block = render.reader.block(position.block)?;
        Some((creator, block.transactions.get(position.index as usize)?.hash()))
    });
    let token = match &account.token {
        Some(record) if param.is_contract => Some(render.token_body(address, record)?),
        _ => None,
    };
    let holds = !render.reader.owned_tokens(address, &[], None, 1)?.is_empty();
    Ok(AddressBody {
        coin_balance: balance.to_string(),
        block_number_balance_updated_at: newest,
        exchange_rate: None,
        creator_address_hash: creation.map(|(creator, _)| creator.to_checksum(None)),
        creation_transaction_hash: creation.map(|(_, hash)| hash.to_string()),
        creation_status: match (creation.is_some(), param.is_contract) {
            (_, true) => Some("success"),
            (true, false) => Some("selfdestructed"),
            (false, false) => None,
        },
        token,
        has_logs: !logs::of_address(render.reader, address, None, 1).0.is_empty(),
        has_tokens: holds,
        has_token_transfers: account.counts.transfers > 0,
        has_validated_blocks: false,
        has_beacon_chain_withdrawals: false,
        watchlist_address_id: None,
        address: param,
    })
}

async fn counters(State(explorer): State<Explorer>, Path(path): Path<AddressPath>) -> Body<AddressCounters> {
    let UserAddress(address) = path.address;
    explorer
        .body(move |_, render| {
            let counts = render.reader.account(address)?.counts;
            Ok(AddressCounters {
                transactions_count: counts.transactions.to_string(),
                token_transfers_count: counts.transfers.to_string(),
                gas_usage_count: counts.gas_used.to_string(),
                validations_count: "0".to_owned(),
            })
        })
        .await
}

async fn tabs(State(explorer): State<Explorer>, Path(path): Path<AddressPath>) -> Body<TabCounters> {
    let UserAddress(address) = path.address;
    explorer
        .body(move |_, render| {
            let counts = render.reader.account(address)?.counts;
            let many = |count: u64| count.min(MANY as u64);
            Ok(TabCounters {
                transactions_count: many(counts.transactions),
                token_transfers_count: many(counts.transfers),
                internal_transactions_count: many(counts.internal),
                token_balances_count: render.reader.owned_tokens(address, &[], None, MANY)?.len() as u64,
                logs_count: logs::of_address(render.reader, address, None, MANY).0.len() as u64,
                validations_count: 0,
                withdrawals_count: 0,
            })
        })
        .await
}

async fn transactions(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
    Query(page): Query<PageQuery>,
    Query(query): Query<DirectionQuery>,
) -> Body<ListBody<TransactionBody>> {
    let UserAddress(address) = path.address;
    explorer
        .body(move |_, render| {
            let page = render.reader.transactions(address, query.side, &page.range())?;
            let items = render.transactions(&page)?;
            Ok(ListBody { next_page_params: NextPage::after(page.next, items.len()), items })
        })
        .await
}

async fn transfers(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
    Query(page): Query<PageQuery>,
    Query(query): Query<TransferQuery>,
) -> Body<ListBody<TransferBody>> {
    let UserAddress(address) = path.address;
    let token = query.token.map(|UserAddress(token)| token);
    let role = TransferRole { side: query.side, token, kinds: query.kinds.0 };
    explorer
        .body(move |_, render| {
            let page = render.reader.transfers(Some(address), &role, &page.range())?;
            let items = render.transfers(&page)?;
            Ok(ListBody { next_page_params: NextPage::after(page.next, items.len()), items })
        })
        .await
}

async fn internal(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
    Query(page): Query<InternalPageQuery>,
) -> Body<ListBody<InternalBody>> {
    let UserAddress(address) = path.address;
    explorer
        .body(move |_, render| {
            let page = render.reader.internal_calls(Some(address), &page.range())?;
            let items: Vec<_> = page.items.iter().filter_map(|found| render.internal(found)).collect();
            Ok(ListBody { next_page_params: NextPage::after_internal(page.next, items.len()), items })
        })
        .await
}

async fn address_logs(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
    Query(page): Query<PageQuery>,
) -> Body<ListBody<LogBody>> {
    let UserAddress(address) = path.address;
    explorer
        .body(move |_, render| {
            let (found, next) = logs::of_address(render.reader, address, page.position(), PAGE);
            let items: Vec<_> = found
                .iter()
                .filter_map(|(block, index)| Some(render.log(block, &block.logs().find(|at| at.log_index == *index)?)))
                .collect();
            Ok(ListBody { next_page_params: NextPage::after(next, items.len()), items })
        })
        .await
}

fn balance(render: &Render<'_>, owned: &OwnedToken) -> Result<TokenBalance, RestError> {
    Ok(TokenBalance {
        token: render.token(owned.token, owned.kind)?,
        token_id: owned.id.map(|id| id.to_string()),
        token_instance: None,
        value: owned.balance.to_string(),
    })
}

async fn tokens(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
    Query(page): Query<TokenPageQuery>,
    Query(query): Query<KindQuery>,
) -> Body<ListBody<TokenBalance>> {
    let UserAddress(address) = path.address;
    explorer
        .body(move |_, render| {
            let mut owned = render.reader.owned_tokens(address, &query.kinds.0, page.after(), PAGE + 1)?;
            let more = owned.len() > PAGE;
            owned.truncate(PAGE);
            let next_page_params = owned.last().filter(|_| more).map(|last| NextPage {
                token_contract_address_hash: Some(last.token.to_checksum(None)),
                token_id: last.id.map(|id| id.to_string()),
                items_count: owned.len(),
                ..NextPage::default()
            });
            let items = owned.iter().map(|owned| balance(render, owned)).collect::<Result<_, _>>()?;
            Ok(ListBody { items, next_page_params })
        })
        .await
}

async fn balances(State(explorer): State<Explorer>, Path(path): Path<AddressPath>) -> Body<Vec<TokenBalance>> {
    let UserAddress(address) = path.address;
    explorer
        .body(move |_, render| {
            let owned = render.reader.owned_tokens(address, &[], None, 1_000)?;
            owned.iter().map(|owned| balance(render, owned)).collect()
        })
        .await
}

async fn instances(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
    Query(page): Query<TokenPageQuery>,
) -> Body<ListBody<InstanceBody>> {
    let UserAddress(address) = path.address;
    explorer
        .body(move |_, render| {
            let mut owned = render.reader.owned_instances(address, page.after(), PAGE + 1)?;
            let more = owned.len() > PAGE;
            owned.truncate(PAGE);
            let next_page_params = owned.last().filter(|_| more).map(|(token, id): &(Address, U256)| NextPage {
                token_contract_address_hash: Some(token.to_checksum(None)),
                token_id: Some(id.to_string()),
                items_count: owned.len(),
                ..NextPage::default()
            });
            let one = |(token, id): &(Address, U256)| instance(render, *token, TokenKind::Erc721, *id, Some(address));
            let items = owned.iter().map(one).collect::<Result<_, _>>()?;
            Ok(ListBody { items, next_page_params })
        })
        .await
}
