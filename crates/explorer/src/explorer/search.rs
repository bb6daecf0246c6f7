//! Searches and figures.

use alloy_primitives::{Address, B256, U256};
use axum::extract::State;
use serde_json::{Value, json};
use tetrad_chain::Head;
use tetrad_network::account::{address_from_hex, parse_account_address};
use tetrad_stdx::{calendar::DAY, decimal::shortest};
use tetrad_web::{Api, NoCache, Query, RestError};

use super::{
    bodies::{IndexingBody, NextPage, RedirectBody, SearchResult, StatsBody},
    page::{Filters, PAGE, Page},
    parameters::SearchQuery,
    render::{Render, timestamp},
    rest::{Body, Explorer, List, SharedExplorer},
    tokens::matches,
};
use crate::index::IndexReader;

/// The number of newest blocks from which averages are taken.
const AVERAGED: u64 = 100;

/// The most blocks of today, of those in memory, that are added up.
const MAX_OF_TODAY: usize = 20_000;

/// Wei per gwei.
const GWEI: u64 = 1_000_000_000;

pub(super) fn routes(api: Api<Explorer>) -> Api<Explorer> {
    api.get(
        "/api/v2/search",
        search,
        "Tokens, contracts, addresses, transactions and blocks by their names.",
    )
    .get(
        "/api/v2/search/quick",
        quick,
        "The same as a list without pages.",
    )
    .get(
        "/api/v2/search/check-redirect",
        redirect,
        "The page that a hash, number or address leads to.",
    )
    .named("getExplorerRedirect")
    .get("/api/v2/stats", stats, "Figures of the chain.")
    .get(
        "/api/v2/main-page/indexing-status",
        status,
        "How far the index of addresses is.",
    )
}

/// Returns the address that some words are.
fn address_of(shared: &SharedExplorer, words: &str) -> Option<Address> {
    let hex = address_from_hex(&words.to_ascii_lowercase()).ok();
    hex.or_else(|| parse_account_address(words, &shared.network.hrp).ok())
}

fn hash_of(words: &str) -> Option<B256> {
    words
        .strip_prefix("0x")
        .filter(|digits| digits.len() == 64)?
        .parse()
        .ok()
}

fn results(
    shared: &SharedExplorer,
    render: &Render<'_>,
    words: &str,
) -> Result<Vec<SearchResult>, RestError> {
    let words = words.trim();
    if words.is_empty() {
        return Ok(Vec::new());
    }

    let address = address_of(shared, words);
    let mut found = Vec::new();
    found.extend(block_result(render, words));
    found.extend(transaction_result(render, words));
    found.extend(address.map(|address| address_result(render, address)));
    found.extend(name_results(render, words, address)?);
    Ok(found)
}

fn block_result(render: &Render<'_>, words: &str) -> Option<SearchResult> {
    let block = match (words.parse::<u64>(), hash_of(words)) {
        (Ok(number), _) => render.reader.block(number),
        (_, Some(hash)) => render.reader.block_by_hash(hash),
        _ => None,
    }?;
    Some(SearchResult {
        kind: "block",
        block_number: Some(block.number()),
        block_hash: Some(block.hash.to_string()),
        timestamp: Some(timestamp(block.header.timestamp)),
        ..SearchResult::default()
    })
}

fn transaction_result(render: &Render<'_>, words: &str) -> Option<SearchResult> {
    let (block, index) = render.reader.transaction(hash_of(words)?)?;
    Some(SearchResult {
        kind: "transaction",
        transaction_hash: Some(block.transactions[index].hash().to_string()),
        timestamp: Some(timestamp(block.header.timestamp)),
        ..SearchResult::default()
    })
}

fn address_result(render: &Render<'_>, address: Address) -> SearchResult {
    let param = render.address(address);
    SearchResult {
        kind: if param.is_contract {
            "contract"
        } else {
            "address"
        },
        address_hash: Some(param.hash),
        name: param.name,
        ..SearchResult::default()
    }
}

/// The tokens with these words in their names, or at the address, and the contracts with these
/// words in their names.
fn name_results(
    render: &Render<'_>,
    words: &str,
    address: Option<Address>,
) -> Result<Vec<SearchResult>, RestError> {
    let words = words.to_lowercase();
    let tokens = render.reader.tokens(None, PAGE, |token, record| {
        Some(token) == address || matches(record, &words)
    })?;
    let tokens = tokens
        .items
        .into_iter()
        .map(|(token, record)| SearchResult {
            kind: "token",
            address_hash: Some(token.to_checksum(None)),
            token_type: Some(record.kind().name()),
            name: record.name,
            symbol: record.symbol,
            ..SearchResult::default()
        });

    let contracts = render.known.named(&words, PAGE);
    let contracts = contracts
        .into_iter()
        .map(|(address, contract)| SearchResult {
            kind: "contract",
            address_hash: Some(address.to_checksum(None)),
            name: Some(contract.label.clone()),
            ..SearchResult::default()
        });
    Ok(tokens.chain(contracts).collect())
}

async fn search(
    State(explorer): State<Explorer>,
    Query(query): Query<SearchQuery>,
    filters: Filters,
) -> List<SearchResult> {
    explorer
        .read(move |shared, render| {
            // All results are one page.
            let mut page = Page::<()>::new(usize::MAX);
            for result in results(shared, render, &query.words.0)? {
                if page
                    .push((), || Ok::<_, RestError>(Some(result)))?
                    .is_break()
                {
                    break;
                }
            }
            page.finish(filters, |()| NextPage::default())
        })
        .await
}

async fn quick(
    State(explorer): State<Explorer>,
    Query(query): Query<SearchQuery>,
) -> Body<Vec<SearchResult>> {
    explorer
        .body(move |shared, render| results(shared, render, &query.words.0))
        .await
}

async fn redirect(
    State(explorer): State<Explorer>,
    Query(query): Query<SearchQuery>,
) -> Body<RedirectBody> {
    explorer
        .body(move |shared, render| Ok(redirect_of(shared, render, query.words.0.trim())))
        .await
}

/// Returns the page that some words lead to.
fn redirect_of(shared: &SharedExplorer, render: &Render<'_>, words: &str) -> RedirectBody {
    if let Some(address) = address_of(shared, words) {
        return redirect_to("address", address.to_checksum(None));
    }

    if let Some(hash) = hash_of(words) {
        if render.reader.transaction(hash).is_some() {
            return redirect_to("transaction", hash.to_string());
        }
        if render.reader.block_by_hash(hash).is_some() {
            return redirect_to("block", hash.to_string());
        }
    }

    if let Some(block) = words
        .parse()
        .ok()
        .and_then(|number| render.reader.block(number))
    {
        return redirect_to("block", block.number().to_string());
    }

    RedirectBody {
        redirect: false,
        kind: None,
        parameter: None,
    }
}

fn redirect_to(kind: &'static str, parameter: String) -> RedirectBody {
    RedirectBody {
        redirect: true,
        kind: Some(kind),
        parameter: Some(parameter),
    }
}

async fn stats(State(explorer): State<Explorer>) -> Body<StatsBody> {
    explorer.body(figures).await
}

fn figures(shared: &SharedExplorer, render: &Render<'_>) -> Result<StatsBody, RestError> {
    let reader = render.reader;
    let head = &reader.head;
    let totals = reader.totals()?;
    let newest = &head.block.header;
    let first = newest.number.saturating_sub(AVERAGED).max(reader.oldest());

    let today = newest.timestamp / DAY;
    let (transactions, gas) = head
        .blocks_from(0)
        .rev()
        .take(MAX_OF_TODAY)
        .take_while(|block| block.header.timestamp / DAY == today)
        .fold((0, 0), |(transactions, gas), block| {
            (
                transactions + block.transactions.len(),
                gas + block.header.gas_used,
            )
        });

    let base_fee = shared.chain.next_base_fee(head).unwrap_or_default();

    Ok(StatsBody {
        total_blocks: newest.number.to_string(),
        total_addresses: head.state.len().to_string(),
        total_transactions: totals.transactions.to_string(),
        total_gas_used: totals.gas_used.to_string(),
        transactions_today: transactions.to_string(),
        gas_used_today: gas.to_string(),
        average_block_time: average_block_time_ms(reader, first),
        gas_prices: Some(json!({
            "slow": gas_price(base_fee, GWEI / 10),
            "average": gas_price(base_fee, GWEI),
            "fast": gas_price(base_fee, 2 * GWEI),
        })),
        network_utilization_percentage: utilization_percent(head, first),
        coin_price: None,
        coin_price_change_percentage: None,
        market_cap: "0".to_owned(),
        tvl: None,
        static_gas_price: None,
    })
}

/// Returns a gas price as an exact JSON number, in gwei.
fn gas_price(base_fee: u64, tip: u64) -> Option<Value> {
    let price = U256::from(base_fee) + U256::from(tip);
    serde_json::from_str(&shortest(price, 9)).ok()
}

/// Returns the average time between the blocks from `first` on.
fn average_block_time_ms(reader: &IndexReader, first: u64) -> f64 {
    let newest = &reader.head.block.header;
    let spans = newest.number.saturating_sub(first);
    if spans == 0 {
        return 0.0;
    }

    let seconds = reader.block(first).map_or(0, |block| {
        newest.timestamp.saturating_sub(block.header.timestamp)
    });
    seconds as f64 * 1_000.0 / spans as f64
}

/// Returns the share of their gas limits that the blocks in memory from `first` on have used.
fn utilization_percent(head: &Head, first: u64) -> f64 {
    let (used, limit) = head
        .blocks_from(first)
        .map(|block| (block.header.gas_used, block.header.gas_limit))
        .fold((0, 0), |(used, limit), (more, most)| {
            (used + more, limit + most)
        });
    if limit == 0 {
        return 0.0;
    }
    used as f64 * 100.0 / limit as f64
}

async fn status(State(explorer): State<Explorer>) -> NoCache<IndexingBody> {
    let shared = &explorer.0;
    let tip = shared.index.tip();
    let head = shared.chain.head().number();
    let finished = tip >= head;

    let hundredths = if finished {
        100
    } else {
        // 100 only once the index has reached the head.
        (tip * 100).checked_div(head).unwrap_or(100).min(99)
    };

    let ratio = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    NoCache(IndexingBody {
        finished_indexing: finished,
        finished_indexing_blocks: finished,
        indexed_blocks_ratio: ratio.clone(),
        indexed_internal_transactions_ratio: ratio,
    })
}
