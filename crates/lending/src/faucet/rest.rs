//! The REST interface.

use alloy_primitives::Address;
use axum::{Router, extract::State, http::StatusCode};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use tetrad_chain::SendError;
use tetrad_network::network::Network;
use tetrad_stdx::decimal;
use tetrad_web::{
    Api, Client, Interface, JsonBody, NoStore, Operation, Query, RequestBody, RestError,
    current_client, in_turn, method_not_allowed,
    parameters::{NamedToken, ParameterValue, UserAddress, ValueError, parameters},
};

use super::{
    Faucet,
    payer::{Allowance, Asset, FaucetError},
};

/// A response.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{T}Answer")]
struct FaucetAnswer<T> {
    success: bool,
    data: T,
}

/// The faucet.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Faucet")]
struct FaucetBody {
    /// Whether this node has a faucet. Without one, the other members are left out.
    enabled: bool,
    /// The account that pays.
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    /// Its balance in whole coins.
    #[serde(skip_serializing_if = "Option::is_none")]
    balance: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<FaucetLimits>,
    /// The assets that it pays: the native coin, then tokens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assets: Vec<FaucetAsset>,
}

/// Payments of each asset within 24 hours. A limit that is left out does not exist.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FaucetLimits {
    /// To one address.
    #[serde(skip_serializing_if = "Option::is_none")]
    per_address: Option<u32>,
    /// To one client.
    #[serde(skip_serializing_if = "Option::is_none")]
    per_client: Option<u32>,
    /// In all.
    per_day: u32,
}

/// An asset that the faucet pays.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FaucetAsset {
    symbol: String,
    /// The token's address; none for the native coin.
    token: Option<String>,
    decimals: u8,
    /// Whole coins or tokens of one payment.
    amount: String,
    /// Payments that this client, and the address if one is given, may still get.
    remaining: u32,
    /// Seconds until the next payment is possible; 0 if it is now.
    retry_after: u64,
}

/// A request for a payment.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "FaucetRequest")]
struct PaymentRequest {
    /// The recipient: hex in any case, or bech32 of an account.
    #[schemars(schema_with = "address_schema")]
    address: String,
    /// Symbol or address of a token; the native coin if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

/// A payment.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FaucetPayment")]
struct PaymentBody {
    transaction_hash: String,
    /// The recipient.
    address: String,
    symbol: String,
    /// Whole coins or tokens.
    amount: String,
}

fn address_schema(_: &mut SchemaGenerator) -> Schema {
    UserAddress::schema()
}

impl RequestBody for PaymentRequest {
    fn parse(json: &[u8]) -> Result<Self, RestError> {
        serde_json::from_slice(json).map_err(|_| {
            RestError::parameter(
                "address",
                r#"expected {"address": "0x…"}, optionally with "token""#,
            )
        })
    }
}

parameters! {
    /// The account that asks.
    struct FaucetQuery {
        /// The address that would be paid: hex in any case, or bech32.
        #[param("address", example = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266")]
        address: Option<UserAddress>,
    }
}

impl Interface for Faucet {
    type Error = RestError;

    fn network(&self) -> &Network {
        self.network()
    }
}

/// The route `/api/faucet` and its description. Without a faucet it says so.
pub fn router(faucet: Faucet) -> (Router, Vec<Operation>) {
    Api::new("Faucet")
        .get(
            "/api/faucet",
            describe,
            "Amounts and limits of the faucet, and what an address may still get.",
        )
        .post(
            "/api/faucet",
            pay,
            "Pays coins, or one of the network's tokens, to an address.",
        )
        .fails::<RestError>(&[StatusCode::NOT_FOUND, StatusCode::TOO_MANY_REQUESTS])
        .and(|router| router.method_not_allowed_fallback(method_not_allowed))
        .with_state(faucet)
}

impl From<FaucetError> for RestError {
    fn from(error: FaucetError) -> Self {
        match error {
            FaucetError::Off | FaucetError::UnknownToken => Self::NotFound(error.to_string()),
            FaucetError::Limit { retry_after, .. } => Self::QuotaExceeded {
                what: error.to_string(),
                retry_after,
            },
            FaucetError::Empty { .. } => Self::OutOfFunds(error.to_string()),
            FaucetError::Recipient { .. } => Self::parameter("address", error.to_string()),
            FaucetError::Send(SendError::Sign(_)) | FaucetError::Task(_) => {
                Self::Internal(error.to_string())
            }
            FaucetError::TooOld
            | FaucetError::Asset { .. }
            | FaucetError::Send(SendError::Refused(_)) => Self::Unavailable(error.to_string()),
        }
    }
}

async fn describe(
    State(faucet): State<Faucet>,
    Query(query): Query<FaucetQuery>,
) -> Result<NoStore<FaucetAnswer<FaucetBody>>, RestError> {
    let recipient = query.address.map(|UserAddress(address)| address);
    let read = move || Ok::<_, RestError>(FaucetBody::new(&faucet, recipient, current_client()));
    let data = in_turn(read).await?;

    Ok(NoStore(FaucetAnswer {
        success: true,
        data,
    }))
}

async fn pay(
    State(faucet): State<Faucet>,
    JsonBody(request): JsonBody<PaymentRequest>,
) -> Result<NoStore<FaucetAnswer<PaymentBody>>, RestError> {
    let UserAddress(recipient) = member(
        "address",
        UserAddress::parse(&request.address, faucet.network()),
    )?;

    // Naming the native coin is the same as naming no token.
    let token = request
        .token
        .as_deref()
        .filter(|name| !name.eq_ignore_ascii_case(&faucet.network().coin))
        .map(|name| member("token", NamedToken::parse(name, faucet.network())))
        .transpose()?;

    if recipient.is_zero() {
        return Err(RestError::parameter(
            "address",
            "nobody has the key of the zero address",
        ));
    }

    let asset = faucet.asset(token.map(|NamedToken(token)| token.address))?;
    let hash = faucet
        .pay(recipient, asset, current_client().address)
        .await?;

    let data = PaymentBody {
        transaction_hash: hash.to_string(),
        address: recipient.to_checksum(None),
        symbol: asset.symbol.clone(),
        amount: decimal::shortest(asset.amount, asset.decimals),
    };

    Ok(NoStore(FaucetAnswer {
        success: true,
        data,
    }))
}

/// The value of a member of the body.
fn member<T>(name: &'static str, value: Result<T, ValueError>) -> Result<T, RestError> {
    value.map_err(|error| match error {
        ValueError::Missing => RestError::parameter(name, "is missing"),
        ValueError::Malformed(what) => RestError::parameter(name, what),
        ValueError::Unknown(what) => RestError::NotFound(format!("{name}: {what}")),
    })
}

impl FaucetBody {
    fn new(faucet: &Faucet, recipient: Option<Address>, client: Client) -> Self {
        if faucet.assets().is_empty() {
            return Self {
                enabled: false,
                account: None,
                balance: None,
                limits: None,
                assets: Vec::new(),
            };
        }

        let config = faucet.config();
        let limit = |limit: u32| Some(limit).filter(|limit| *limit > 0);
        let limits = FaucetLimits {
            per_address: limit(config.per_address),
            per_client: limit(config.per_client),
            per_day: config.per_day,
        };

        let allowances = faucet.allowances(recipient, client.address);

        Self {
            enabled: true,
            account: Some(faucet.account().to_checksum(None)),
            balance: Some(faucet.balance()),
            limits: Some(limits),
            assets: faucet
                .assets()
                .iter()
                .zip(allowances)
                .map(FaucetAsset::from)
                .collect(),
        }
    }
}

impl From<(&Asset, Allowance)> for FaucetAsset {
    fn from((asset, allowance): (&Asset, Allowance)) -> Self {
        Self {
            symbol: asset.symbol.clone(),
            token: asset.token.map(|token| token.to_checksum(None)),
            decimals: asset.decimals,
            amount: decimal::shortest(asset.amount, asset.decimals),
            remaining: allowance.remaining,
            retry_after: allowance.exhausted.map_or(0, |(_, wait)| wait),
        }
    }
}
