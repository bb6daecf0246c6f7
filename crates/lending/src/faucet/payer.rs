//! Payments: their limits, and the transactions that make them.

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolCall;
use tetrad_chain::{Chain, OutgoingCall, SendError, Sender, SubmitError, View};
use tetrad_contracts::contracts::{bindings::Token, unit};
use tetrad_evm::{Call, EstimateError, Fork, StateOverrides};
use tetrad_network::network::{COIN_DECIMALS, Network};
use tetrad_stdx::decimal;
use tetrad_web::{ClientKey, ExecutionFailed, in_turn};

use super::{
    DAY, FaucetConfig,
    mark::{ClientTag, Marks},
    payments::{Payment, PaymentReader, Payments},
};

/// The most gas of a payment: enough for a contract that records what it receives.
const MAX_GAS: u64 = 200_000;
/// Divisor of what a development account begins with that gives the payment of a token.
const TOKEN_SHARE: u64 = 100;

/// The parts of a faucet.
pub struct FaucetSetup {
    /// The chain.
    pub chain: Chain,
    /// The network, which describes the native coin.
    pub network: Arc<Network>,
    /// Whether the network's tokens are on the chain.
    pub has_tokens: bool,
    /// The account that pays, which owns the tokens.
    pub sender: Arc<Sender>,
    /// Amount and limits.
    pub config: FaucetConfig,
}

/// The faucet. Clones share it.
#[derive(Clone)]
pub struct Faucet(Arc<SharedFaucet>);

struct SharedFaucet {
    setup: FaucetSetup,
    marks: Marks,
    payments: PaymentReader,
    /// What it pays; nothing if it is turned off.
    assets: Vec<Asset>,
}

/// What a payment consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asset {
    pub(super) symbol: String,
    /// The token; none for the native coin.
    pub(super) token: Option<Address>,
    pub(super) decimals: u8,
    /// In the smallest unit.
    pub(super) amount: U256,
}

/// A limit that a payment has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitScope {
    Address,
    Client,
    Day,
}

/// What may still be paid of an asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance {
    /// Further payments.
    pub(super) remaining: u32,
    /// The limit that has been reached, and the seconds until it admits a payment again.
    pub(super) exhausted: Option<(LimitScope, u64)>,
}

/// The reason why a payment was not made.
#[derive(Debug, thiserror::Error)]
pub(super) enum FaucetError {
    #[error("this node has no faucet: it was started without --faucet")]
    Off,
    #[error("the faucet does not pay this token")]
    UnknownToken,
    #[error("the faucet needs the rules of Berlin or later")]
    TooOld,
    #[error("{}", describe(*.scope, *.limit, .symbol))]
    Limit {
        scope: LimitScope,
        limit: u32,
        symbol: String,
        retry_after: u64,
    },
    #[error(
        "the faucet has run out of {symbol}: its account {account} has {balance}; please tell the node's operator"
    )]
    Empty {
        symbol: String,
        account: Address,
        balance: String,
    },
    #[error("this contract accepts no {symbol}")]
    Recipient { symbol: String },
    #[error("the faucet cannot pay {symbol}: {reason}")]
    Asset { symbol: String, reason: String },
    #[error("the payment was not sent: {0}")]
    Send(SendError),
    #[error(transparent)]
    Task(#[from] ExecutionFailed),
}

fn describe(scope: LimitScope, limit: u32, symbol: &str) -> String {
    let times = if limit == 1 {
        "once".to_owned()
    } else {
        format!("{limit} times")
    };
    match scope {
        LimitScope::Address => {
            format!("the faucet pays {symbol} {times} in 24 hours to one address")
        }
        LimitScope::Client => format!("the faucet pays {symbol} {times} in 24 hours to one client"),
        LimitScope::Day => {
            format!("the faucet has paid {symbol} {times} in the last 24 hours, its limit")
        }
    }
}

impl From<SendError> for FaucetError {
    fn from(error: SendError) -> Self {
        Self::Send(error)
    }
}

impl Faucet {
    /// A faucet, which is turned off if no amount is configured.
    pub fn new(setup: FaucetSetup) -> Self {
        let FaucetSetup {
            chain,
            network,
            has_tokens,
            sender,
            config,
            ..
        } = &setup;
        let coin = |amount| Asset {
            symbol: network.coin.clone(),
            token: None,
            decimals: COIN_DECIMALS,
            amount,
        };
        let token = |token: &tetrad_network::network::Token| Asset {
            symbol: token.symbol.clone(),
            token: Some(token.address),
            decimals: token.decimals,
            amount: unit(token) * U256::from(token.development_balance) / U256::from(TOKEN_SHARE),
        };
        let tokens = network
            .tokens
            .iter()
            .filter(|_| *has_tokens && config.amount.is_some())
            .map(token);
        let assets = config.amount.into_iter().map(coin).chain(tokens).collect();
        let marks = Marks::new(sender.account(), sender.secret("faucet"));
        let payments = PaymentReader::new(chain.clone(), sender.account(), marks.clone());
        Self(Arc::new(SharedFaucet {
            setup,
            marks,
            payments,
            assets,
        }))
    }

    pub(super) fn network(&self) -> &Network {
        &self.0.setup.network
    }

    pub(super) fn config(&self) -> &FaucetConfig {
        &self.0.setup.config
    }

    /// The account that pays.
    pub(super) fn account(&self) -> Address {
        self.0.setup.sender.account()
    }

    /// The account's balance in whole coins.
    pub(super) fn balance(&self) -> String {
        let balance = self.0.setup.chain.head().state.balance(self.account());
        decimal::with_point(balance.unwrap_or_default(), COIN_DECIMALS)
    }

    /// What it pays; nothing if it is turned off.
    pub(super) fn assets(&self) -> &[Asset] {
        &self.0.assets
    }

    /// Returns, for each asset, what `recipient` and `client` may still get. It may read blocks
    /// from the disk.
    pub(super) fn allowances(
        &self,
        recipient: Option<Address>,
        client: ClientKey,
    ) -> Vec<Allowance> {
        let now = self.0.setup.chain.now();
        let tags = self.0.marks.tags(client, now);
        let count = |payments: Payments<'_>| {
            let allowance = |asset: &Asset| {
                self.config()
                    .allowance(payments, asset.token, recipient, &tags, now)
            };
            self.assets().iter().map(allowance).collect()
        };
        self.0.payments.with_last_day(now, count)
    }

    /// Returns what a payment of a token consists of, or one of the native coin.
    pub(super) fn asset(&self, token: Option<Address>) -> Result<&Asset, FaucetError> {
        let missing = if self.assets().is_empty() {
            FaucetError::Off
        } else {
            FaucetError::UnknownToken
        };
        self.assets()
            .iter()
            .find(|asset| asset.token == token)
            .ok_or(missing)
    }

    /// Pays an asset. Returns the transaction's hash, with instant sealing once its block is
    /// published.
    pub(super) async fn pay(
        &self,
        recipient: Address,
        asset: &Asset,
        client: ClientKey,
    ) -> Result<B256, FaucetError> {
        let (faucet, wanted) = (self.clone(), asset.clone());
        // Blocks may have to be read from the disk, and accounts from the node that a fork is of.
        let call = in_turn(move || faucet.prepare(recipient, &wanted, client)).await?;
        let plan = || -> Result<OutgoingCall, FaucetError> {
            // Only now, as other payments may have been made meanwhile; until this one is in the
            // pool, there are none.
            let tag = self.admit(recipient, asset, client)?;
            Ok(OutgoingCall {
                access_list: Some(self.0.marks.access_list(tag)),
                ..call.clone()
            })
        };
        let sent = self.0.setup.sender.send_planned(plan).await;
        sent.map_err(|error: FaucetError| match error {
            FaucetError::Send(SendError::Refused(SubmitError::InsufficientFunds { .. })) => {
                self.empty(asset)
            }
            error => error,
        })
    }

    fn empty(&self, asset: &Asset) -> FaucetError {
        let balance = format!("{} {}", self.balance(), self.network().coin);
        FaucetError::Empty {
            symbol: asset.symbol.clone(),
            account: self.account(),
            balance,
        }
    }

    /// Checks the limits. Returns the client's tag in the payment.
    fn admit(
        &self,
        recipient: Address,
        asset: &Asset,
        client: ClientKey,
    ) -> Result<ClientTag, FaucetError> {
        let now = self.0.setup.chain.now();
        let tags = self.0.marks.tags(client, now);
        let config = self.config();
        let count = |payments: Payments<'_>| {
            config.allowance(payments, asset.token, Some(recipient), &tags, now)
        };
        match self.0.payments.with_last_day(now, count).exhausted {
            None => Ok(tags[0]),
            Some((scope, retry_after)) => {
                let limit = config.limit(scope);
                Err(FaucetError::Limit {
                    scope,
                    limit,
                    symbol: asset.symbol.clone(),
                    retry_after,
                })
            }
        }
    }

    /// Checks that a payment is possible. Returns its transaction, without the mark.
    fn prepare(
        &self,
        recipient: Address,
        asset: &Asset,
        client: ClientKey,
    ) -> Result<OutgoingCall, FaucetError> {
        let tag = self.admit(recipient, asset, client)?;
        let head = self.0.setup.chain.head();
        if !self
            .0
            .setup
            .chain
            .next_environment(&head)
            .rules
            .has(Fork::Berlin)
        {
            return Err(FaucetError::TooOld);
        }
        let (to, value, input) = match asset.token {
            None => (recipient, asset.amount, Bytes::new()),
            Some(token) => {
                let mint = Token::mintCall {
                    to: recipient,
                    amount: asset.amount,
                };
                (token, U256::ZERO, mint.abi_encode().into())
            }
        };
        let failed = |reason: String| FaucetError::Asset {
            symbol: asset.symbol.clone(),
            reason,
        };
        let balance = head
            .state
            .balance(self.account())
            .map_err(|error| failed(error.to_string()))?;
        if balance < value || balance.is_zero() {
            return Err(self.empty(asset));
        }
        let call = Call {
            from: self.account(),
            to: Some(to),
            value,
            input: input.clone(),
            access_list: Some(self.0.marks.access_list(tag)),
            ..Call::default()
        };
        let (view, overrides) = (View::newest(head), StateOverrides::new());
        match view.call_context(&overrides, MAX_GAS).estimate(&call) {
            // The recipient's storage may differ when the payment is made.
            Ok(gas) => {
                let gas_limit = if asset.token.is_some() {
                    gas + gas / 4
                } else {
                    gas
                };
                Ok(OutgoingCall {
                    to,
                    value,
                    input,
                    gas_limit,
                    access_list: None,
                })
            }
            Err(EstimateError::Transaction(error)) => Err(failed(error.to_string())),
            Err(_) if asset.token.is_none() => Err(FaucetError::Recipient {
                symbol: asset.symbol.clone(),
            }),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

impl FaucetConfig {
    fn limit(&self, scope: LimitScope) -> u32 {
        match scope {
            LimitScope::Address => self.per_address,
            LimitScope::Client => self.per_client,
            LimitScope::Day => self.per_day,
        }
    }

    /// Returns what may still be paid of an asset. `payments` are those of the last day.
    fn allowance(
        &self,
        payments: Payments<'_>,
        token: Option<Address>,
        recipient: Option<Address>,
        tags: &[ClientTag],
        now: u64,
    ) -> Allowance {
        let is_meant = |scope: LimitScope, payment: &Payment| match scope {
            LimitScope::Address => recipient == Some(payment.recipient),
            LimitScope::Client => tags.contains(&payment.client),
            LimitScope::Day => true,
        };
        let mut allowance = Allowance {
            remaining: u32::MAX,
            exhausted: None,
        };
        for scope in [LimitScope::Address, LimitScope::Client, LimitScope::Day] {
            let limit = self.limit(scope);
            if limit == 0 {
                continue;
            }
            let counted = || {
                payments
                    .iter()
                    .filter(|one| one.token == token && is_meant(scope, one))
            };
            let count = u32::try_from(counted().count()).unwrap_or(u32::MAX);
            allowance.remaining = allowance.remaining.min(limit.saturating_sub(count));
            // Once this payment no longer counts, there are fewer than the limit.
            let blocking = count
                .checked_sub(limit)
                .and_then(|excess| counted().nth(excess as usize));
            let wait = blocking.map(|one| one.time.saturating_add(DAY).saturating_sub(now).max(1));
            if let Some(wait) = wait
                && allowance.exhausted.is_none_or(|(_, other)| wait > other)
            {
                allowance.exhausted = Some((scope, wait));
            }
        }
        allowance
    }
}
