//! Balances of the native coin. Tokens are contracts, which `eth_call` reads.

use alloy_primitives::{Address, U256};
use axum::extract::State;
use serde_json::{Value, json};

use super::{
    Gateway,
    empty::page,
    error::{NotFound, Unavailable},
    parameters::{AccountPath, CoinPath, CoinQuery},
    rest::{SdkReply, answer},
};
use crate::web::{Api, Path, Query};

/// Decimals of the native coin.
const DECIMALS: u8 = 18;

/// Adds the routes of the bank module.
pub(super) fn routes(api: Api<Gateway>) -> Api<Gateway> {
    api.get("/cosmos/bank/v1beta1/balances/{address}", balances, "An account's balances.")
        .get("/cosmos/bank/v1beta1/spendable_balances/{address}", balances, "An account's spendable balances.")
        .get("/cosmos/bank/v1beta1/balances/{address}/by_denom", balance, "An account's balance of a coin.")
        .get(
            "/cosmos/bank/v1beta1/spendable_balances/{address}/by_denom",
            balance,
            "An account's spendable balance of a coin.",
        )
        .get("/cosmos/bank/v1beta1/denoms_metadata", all_metadata, "All coins.")
        .get("/cosmos/bank/v1beta1/denoms_metadata/{denom}", metadata, "A coin.")
        .get("/cosmos/bank/v1beta1/params", params, "Parameters of the bank module.")
}

impl Gateway {
    fn amount(&self, address: Address) -> Result<U256, Unavailable> {
        Ok(self.chain.head().state.balance(address)?)
    }

    fn metadata(&self) -> Value {
        let (denom, coin) = (&self.network.denomination, &self.network.coin);
        json!({
            "description": format!("The native coin of {}", self.network.cosmos_chain_id),
            "denom_units": [
                { "denom": denom, "exponent": 0, "aliases": [] },
                { "denom": coin, "exponent": DECIMALS, "aliases": [] },
            ],
            "base": denom,
            "display": coin,
            "name": coin,
            "symbol": coin,
            "uri": "",
            "uri_hash": "",
        })
    }
}

async fn balances(State(gateway): State<Gateway>, Path(path): Path<AccountPath>) -> Result<SdkReply, Unavailable> {
    let amount = gateway.amount(path.account.address)?;
    let coin = json!({ "denom": gateway.network.denomination, "amount": amount.to_string() });
    let coins: Vec<_> = Some(coin).filter(|_| !amount.is_zero()).into_iter().collect();
    Ok(answer(page("balances", coins)))
}

async fn balance(
    State(gateway): State<Gateway>,
    Path(path): Path<AccountPath>,
    Query(query): Query<CoinQuery>,
) -> Result<SdkReply, Unavailable> {
    let (amount, denom) = (gateway.amount(path.account.address)?, query.denomination.0);
    let amount = if denom == gateway.network.denomination { amount } else { U256::ZERO };
    Ok(answer(json!({ "balance": { "denom": denom, "amount": amount.to_string() } })))
}

async fn all_metadata(State(gateway): State<Gateway>) -> SdkReply {
    answer(page("metadatas", vec![gateway.metadata()]))
}

async fn metadata(State(gateway): State<Gateway>, Path(path): Path<CoinPath>) -> Result<SdkReply, NotFound> {
    let denom = path.name.0;
    if denom != gateway.network.denomination {
        return Err(NotFound(format!("client metadata for denom {denom}")));
    }
    Ok(answer(json!({ "metadata": gateway.metadata() })))
}

async fn params() -> SdkReply {
    answer(json!({ "params": { "send_enabled": [], "default_send_enabled": true } }))
}
