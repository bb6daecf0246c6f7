//! Routes about an address.

use alloy_primitives::{Address, U256};
use axum::extract::State;
use tetrad_web::{Api, Path, Query, RestError, parameters::UserAddress};

use super::{
    bodies::{
        AddressBody, AddressCounters, AddressParam, InstanceBody, InternalBody, LogBody, NextPage,
        TabCounters, TokenBalance, TransactionBody, TransferBody,
    },
    filters::{AddressTransactionQuery, KindQuery, SideQuery, SortedBy, TopicQuery, TransferQuery},
    index_pages, logs,
    page::{ArrayBody, Filters, PAGE, Page},
    parameters::{AddressPath, InternalPageQuery, PageQuery, TokenPageQuery},
    render::Render,
    rest::{Body, Explorer, List},
    tokens::instance,
};
use crate::index::{
    CallFilter, IndexPage, OwnedToken, PositionRange, TokenKey, TokenKind, TransferRole,
};

/// The largest number that the counters of tabs tell apart, as in Blockscout.
const MAX_TAB_COUNT: usize = 51;

pub(super) fn routes(api: Api<Explorer>) -> Api<Explorer> {
    api.get(
        "/api/v2/addresses/{address}",
        address,
        "An address: balance, creation, token.",
    )
    .get(
        "/api/v2/addresses/{address}/counters",
        counters,
        "Numbers of an address's transactions and transfers.",
    )
    .get(
        "/api/v2/addresses/{address}/tabs-counters",
        tabs,
        "Numbers for the tabs of an address's page, up to 51.",
    )
    .get(
        "/api/v2/addresses/{address}/transactions",
        transactions,
        "An address's transactions.",
    )
    .get(
        "/api/v2/addresses/{address}/token-transfers",
        transfers,
        "An address's token transfers, newest first.",
    )
    .get(
        "/api/v2/addresses/{address}/internal-transactions",
        internal,
        "Calls that contracts made from or to an address, newest first.",
    )
    .get(
        "/api/v2/addresses/{address}/logs",
        address_logs,
        "The logs of a contract, newest first.",
    )
    .get(
        "/api/v2/addresses/{address}/tokens",
        tokens,
        "The tokens that an address holds.",
    )
    .get(
        "/api/v2/addresses/{address}/token-balances",
        balances,
        "All tokens that an address holds, up to 1,000.",
    )
    .get(
        "/api/v2/addresses/{address}/nft",
        instances,
        "The ERC-721 and ERC-1155 tokens that an address has.",
    )
}

async fn address(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
) -> Body<AddressBody> {
    let UserAddress(address) = path.address;
    explorer
        .body(move |_, render| render_address(address, render))
        .await
}

fn render_address(address: Address, render: &Render<'_>) -> Result<AddressBody, RestError> {
    let account = render.reader.account(address)?;
    let param: AddressParam = render.address(address);

    let state = &render.view().state;
    let balance = state
        .balance(address)
        .map_err(|error| RestError::Internal(error.to_string()))?;

    let creation = account.creation.and_then(|(creator, position)| {
        let block = render.reader.block(position.block)?;
        Some((
            creator,
            block.transactions.get(position.index as usize)?.hash(),
        ))
    });

    let token = match &account.token {
        Some(record) if param.is_contract => Some(render.token_body(address, record)?),
        _ => None,
    };
    let holds = !render
        .reader
        .owned_tokens(address, &[], None, 1)?
        .items
        .is_empty();

    Ok(AddressBody {
        coin_balance: balance.to_string(),
        block_number_balance_updated_at: render.view().block.number(),
        exchange_rate: None,
        creator_address_hash: creation.map(|(creator, _)| creator.to_checksum(None)),
        creation_transaction_hash: creation.map(|(_, hash)| hash.to_string()),
        creation_status: match (creation.is_some(), param.is_contract) {
            (_, true) => Some("success"),
            (true, false) => Some("selfdestructed"),
            (false, false) => None,
        },
        token,
        has_logs: logs::count_of_contract(render.reader, address, 1)? > 0,
        has_tokens: holds,
        has_token_transfers: account.counts.transfers > 0,
        has_validated_blocks: false,
        has_beacon_chain_withdrawals: false,
        watchlist_address_id: None,
        address: param,
    })
}

async fn counters(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
) -> Body<AddressCounters> {
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

async fn tabs(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
) -> Body<TabCounters> {
    let UserAddress(address) = path.address;
    explorer
        .body(move |_, render| {
            let counts = render.reader.account(address)?.counts;
            let capped = |count: u64| count.min(MAX_TAB_COUNT as u64);
            Ok(TabCounters {
                transactions_count: capped(counts.transactions),
                token_transfers_count: capped(counts.transfers),
                internal_transactions_count: capped(counts.internal),
                token_balances_count: render
                    .reader
                    .owned_tokens(address, &[], None, MAX_TAB_COUNT)?
                    .items
                    .len() as u64,
                logs_count: logs::count_of_contract(render.reader, address, MAX_TAB_COUNT)? as u64,
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
    Query(query): Query<AddressTransactionQuery>,
    filters: Filters,
) -> List<TransactionBody> {
    let UserAddress(address) = path.address;
    let SortedBy::BlockNumber = query.sorted_by;
    let range = PositionRange::beyond(page.position(), query.order, PAGE);

    explorer
        .read(move |_, render| {
            let found = render.reader.transactions(address, query.side.0, &range)?;
            let mut page = Page::new(PAGE);
            page.fill(
                found,
                |position| *position,
                |position| render.transaction_at(position),
            )?;
            page.finish(filters, NextPage::after)
        })
        .await
}

async fn transfers(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
    Query(page): Query<PageQuery>,
    Query(query): Query<TransferQuery>,
    filters: Filters,
) -> List<TransferBody> {
    let UserAddress(address) = path.address;
    let role = TransferRole {
        side: query.side.0,
        token: query.token(),
        kinds: query.kinds.0,
    };

    explorer
        .read(move |_, render| {
            let found = render
                .reader
                .transfers(Some(address), &role, &page.range(PAGE))?;
            index_pages::transfers(render, found, PAGE, filters)
        })
        .await
}

async fn internal(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
    Query(page): Query<InternalPageQuery>,
    Query(query): Query<SideQuery>,
    filters: Filters,
) -> List<InternalBody> {
    let UserAddress(address) = path.address;
    let filter = CallFilter {
        side: query.side.0,
        ..CallFilter::default()
    };

    explorer
        .read(move |_, render| {
            let range = PositionRange::before(page.position(), PAGE);
            let found = render
                .reader
                .internal_calls(Some(address), &filter, &range)?;
            index_pages::internal_calls(render, found, PAGE, filters)
        })
        .await
}

async fn address_logs(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
    Query(page): Query<PageQuery>,
    Query(query): Query<TopicQuery>,
    filters: Filters,
) -> List<LogBody> {
    let UserAddress(address) = path.address;
    let before = page.position();
    explorer
        .read(move |_, render| {
            let mut page = Page::new(PAGE);
            let topic = query.topic.0;
            let reached = logs::visit_contract(
                render.reader,
                address,
                topic,
                before,
                |position, block, at| {
                    page.push(position, || Ok::<_, RestError>(Some(render.log(block, at))))
                },
            )?;
            if let Some(reached) = reached {
                page.suspend(reached);
            }
            page.finish(filters, NextPage::after)
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
    filters: Filters,
) -> List<TokenBalance> {
    let UserAddress(address) = path.address;
    explorer
        .read(move |_, render| {
            let found = render
                .reader
                .owned_tokens(address, &query.kinds.0, page.after(), PAGE)?;
            let mut page = Page::new(PAGE);
            page.fill(found, OwnedToken::key, |owned| {
                balance(render, &owned).map(Some)
            })?;
            page.finish(filters, NextPage::after_token)
        })
        .await
}

/// The most tokens of a list without pages.
const MAX_BALANCES: usize = 1_000;

async fn balances(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
) -> Result<ArrayBody<TokenBalance>, RestError> {
    let UserAddress(address) = path.address;
    explorer
        .read(move |_, render| {
            let found = render
                .reader
                .owned_tokens(address, &[], None, MAX_BALANCES)?;
            let mut page = Page::array(MAX_BALANCES);
            page.fill(found, OwnedToken::key, |owned| {
                balance(render, &owned).map(Some)
            })?;
            page.into_array()
        })
        .await
}

async fn instances(
    State(explorer): State<Explorer>,
    Path(path): Path<AddressPath>,
    Query(page): Query<TokenPageQuery>,
    Query(query): Query<KindQuery>,
    filters: Filters,
) -> List<InstanceBody> {
    let UserAddress(address) = path.address;
    explorer
        .read(move |_, render| {
            let found = owned_instances(render, address, &query.kinds.0, page.after())?;
            let mut page = Page::new(PAGE);
            page.fill(
                found,
                |owned| owned.key,
                |owned| owned.render(render, address).map(Some),
            )?;
            page.finish(filters, NextPage::after_token)
        })
        .await
}

/// An id of a non-fungible token that an address owns, or of which it holds an amount.
struct OwnedInstance {
    /// The token's contract, and the id.
    key: TokenKey,
    kind: TokenKind,
    /// The amount; none of a unique token.
    amount: Option<U256>,
}

impl OwnedInstance {
    fn render(&self, render: &Render<'_>, owner: Address) -> Result<InstanceBody, RestError> {
        let (token, id) = self.key;
        let body = instance(
            render,
            token,
            self.kind,
            id,
            Some(owner).filter(|_| self.amount.is_none()),
        )?;
        Ok(InstanceBody {
            value: self.amount.map(|amount| amount.to_string()).or(body.value),
            ..body
        })
    }
}

/// Returns the ids that an address owns or holds, in the order of their contracts and then of
/// themselves.
fn owned_instances(
    render: &Render<'_>,
    address: Address,
    kinds: &[TokenKind],
    after: Option<TokenKey>,
) -> Result<IndexPage<OwnedInstance, TokenKey>, RestError> {
    let is_wanted = |kind: TokenKind| kinds.is_empty() || kinds.contains(&kind);
    let mut all = Vec::new();
    let mut next = None;

    if is_wanted(TokenKind::Erc721) {
        let unique = render.reader.owned_instances(address, after, PAGE)?;
        all.extend(unique.items.into_iter().map(|key| OwnedInstance {
            key,
            kind: TokenKind::Erc721,
            amount: None,
        }));
        next = unique.next;
    }

    if is_wanted(TokenKind::Erc1155) {
        let held = render
            .reader
            .owned_tokens(address, &[TokenKind::Erc1155], after, PAGE)?;
        all.extend(held.items.iter().map(|held| OwnedInstance {
            key: held.key(),
            kind: held.kind,
            amount: Some(held.balance),
        }));
        next = [next, held.next].into_iter().flatten().min();
    }

    // Beyond the place that one of both lists has reached, ids of it may be missing between those
    // of the other.
    all.retain(|owned| next.is_none_or(|next| owned.key <= next));
    all.sort_by_key(|owned| owned.key);
    // A contract may emit events of both standards for one id.
    all.dedup_by_key(|owned| owned.key);

    Ok(IndexPage { items: all, next })
}
