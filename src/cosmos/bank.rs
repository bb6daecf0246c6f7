//! Balances of the native coin. Tokens are contracts: `eth_call` tells of them.

use alloy_primitives::U256;
use axum::{
    extract::{Path, State, rejection::PathRejection},
    response::Response,
};
use serde_json::{Value, json};

use super::{
    Gateway,
    empty::page,
    error::GatewayError,
    rest::{GatewayApi, about, answer, fails, of_address},
};
use crate::{account::parse_account_address, web::Queries};

/// Decimals of the native coin.
const DECIMALS: u8 = 18;

type Text = Result<Path<String>, PathRejection>;
type Answer = Result<Response, GatewayError>;

/// Adds the routes of the bank module.
pub(super) fn routes(api: GatewayApi) -> GatewayApi {
    let denom = |operation: crate::web::Operation| operation.query::<String>("denom", "The denomination.", "ahpx");
    api.get("/cosmos/bank/v1beta1/balances/{address}", balances, of_address(about("What an account has.")))
        .get(
            "/cosmos/bank/v1beta1/spendable_balances/{address}",
            balances,
            of_address(about("What an account may spend.")),
        )
        .get(
            "/cosmos/bank/v1beta1/balances/{address}/by_denom",
            balance,
            denom(of_address(about("What an account has of a coin."))),
        )
        .get(
            "/cosmos/bank/v1beta1/spendable_balances/{address}/by_denom",
            balance,
            denom(of_address(about("What an account may spend of a coin."))),
        )
        .get("/cosmos/bank/v1beta1/denoms_metadata", all_metadata, about("All coins."))
        .get(
            "/cosmos/bank/v1beta1/denoms_metadata/{denom}",
            metadata,
            fails(fails(about("A coin."), 400), 404).path::<String>("denom", "The denomination.", "ahpx"),
        )
        .get("/cosmos/bank/v1beta1/params", params, about("How coins may be sent."))
}

impl Gateway {
    fn amount(&self, text: &str) -> Result<U256, GatewayError> {
        let address = parse_account_address(text, &self.network.hrp)?;
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

async fn balances(State(gateway): State<Gateway>, path: Text) -> Answer {
    let amount = gateway.amount(&path?.0)?;
    let coin = json!({ "denom": gateway.network.denomination, "amount": amount.to_string() });
    let coins: Vec<_> = Some(coin).filter(|_| !amount.is_zero()).into_iter().collect();
    Ok(answer(page("balances", coins)))
}

async fn balance(State(gateway): State<Gateway>, path: Text, query: Queries) -> Answer {
    let amount = gateway.amount(&path?.0)?;
    let denom = query.get("denom").filter(|denom| !denom.is_empty());
    let denom = denom.ok_or_else(|| GatewayError::InvalidArgument("empty denom".to_owned()))?;
    let amount = if denom == gateway.network.denomination { amount } else { U256::ZERO };
    Ok(answer(json!({ "balance": { "denom": denom, "amount": amount.to_string() } })))
}

async fn all_metadata(State(gateway): State<Gateway>) -> Response {
    answer(page("metadatas", vec![gateway.metadata()]))
}

async fn metadata(State(gateway): State<Gateway>, path: Text) -> Answer {
    let Path(denom) = path?;
    if denom != gateway.network.denomination {
        return Err(GatewayError::NotFound(format!("client metadata for denom {denom}")));
    }
    Ok(answer(json!({ "metadata": gateway.metadata() })))
}

async fn params() -> Response {
    answer(json!({ "params": { "send_enabled": [], "default_send_enabled": true } }))
}
