//! Payments: their limits, and the transactions that make them.

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolCall;
use tetrad_chain::{Chain, OutgoingCall, SendError, SubmitError, TransactionSender, View};
use tetrad_contracts::contracts::{bindings::Token, unit};
use tetrad_evm::{Call, ESTIMATE_TOLERANCE, EstimateError, Fork, StateOverrides};
use tetrad_network::network::{self, COIN_DECIMALS, Network};
use tetrad_stdx::{calendar::DAY, decimal};
use tetrad_web::{ClientKey, ExecutionFailed, in_turn};

use super::{
    FaucetConfig,
    mark::{ClientTag, Marks},
    payments::{Payment, PaymentReader, Payments},
};

/// The most gas of a payment: enough for a contract that records what it receives.
const MAX_GAS: u64 = 200_000;
/// A payment of a token is a development account's initial balance divided by this.
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
    pub sender: Arc<TransactionSender>,
    /// The key with which clients are hashed in payments. It must not follow from them.
    pub secret: B256,
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
    /// The assets that it pays; empty if it is turned off.
    assets: Vec<Asset>,
}

/// The amount of one token, or of the coin, in a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asset {
    pub(super) symbol: String,
    /// The token; none for the native coin.
    pub(super) token: Option<Address>,
    pub(super) decimals: u8,
    /// In the smallest unit.
    pub(super) amount: U256,
}

impl Asset {
    /// A payment of the native coin.
    fn coin(network: &Network, amount: U256) -> Self {
        Self {
            symbol: network.coin.clone(),
            token: None,
            decimals: COIN_DECIMALS,
            amount,
        }
    }

    /// A payment of a token.
    fn token(token: &network::Token) -> Self {
        Self {
            symbol: token.symbol.clone(),
            token: Some(token.address),
            decimals: token.decimals,
            amount: unit(token) * U256::from(token.development_balance) / U256::from(TOKEN_SHARE),
        }
    }

    /// The target, the value and the call data of a payment.
    fn payment_to(&self, recipient: Address) -> (Address, U256, Bytes) {
        let Some(token) = self.token else {
            return (recipient, self.amount, Bytes::new());
        };
        let mint = Token::mintCall {
            to: recipient,
            amount: self.amount,
        };
        (token, U256::ZERO, mint.abi_encode().into())
    }

    /// The gas limit of a payment, which `call` tries.
    fn gas_limit(&self, view: &View, call: &Call) -> Result<u64, FaucetError> {
        let overrides = StateOverrides::new();
        match view
            .call_context(&overrides, MAX_GAS)
            .estimate(call, ESTIMATE_TOLERANCE)
        {
            // The recipient's storage may differ when the payment is made.
            Ok(gas) if self.token.is_some() => Ok(gas + gas / 4),
            Ok(gas) => Ok(gas),
            Err(EstimateError::Transaction(error)) => Err(self.unpayable(error)),
            // A payment of the coin fails only in the recipient's own code.
            Err(_) if self.token.is_none() => Err(FaucetError::Recipient {
                symbol: self.symbol.clone(),
            }),
            Err(error) => Err(self.unpayable(error)),
        }
    }

    fn unpayable(&self, reason: impl ToString) -> FaucetError {
        FaucetError::Asset {
            symbol: self.symbol.clone(),
            reason: reason.to_string(),
        }
    }
}

/// A limit that a payment has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitScope {
    Address,
    Client,
    Day,
}

impl LimitScope {
    /// Whether a payment counts towards this limit for the recipient and the client.
    fn counts(
        self,
        payment: &Payment,
        recipient: Option<Address>,
        client_tags: &[ClientTag],
    ) -> bool {
        match self {
            Self::Address => recipient == Some(payment.recipient),
            Self::Client => client_tags.contains(&payment.client),
            Self::Day => true,
        }
    }
}

/// The rest of the limits on payments of an asset.
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
            secret,
            config,
            ..
        } = &setup;

        let mut assets = Vec::new();
        if let Some(amount) = config.amount {
            assets.push(Asset::coin(network, amount));
            if *has_tokens {
                assets.extend(network.tokens.iter().map(Asset::token));
            }
        }

        let marks = Marks::new(sender.account(), *secret);
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

    /// The assets that it pays; empty if it is turned off.
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

        self.0.payments.with_last_day(now, |payments| {
            self.assets()
                .iter()
                .map(|asset| {
                    self.config()
                        .allowance(payments, asset.token, recipient, &tags, now)
                })
                .collect()
        })
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
        let faucet = self.clone();
        let wanted = asset.clone();
        // Blocks may have to be read from the disk, and accounts from the node that a fork is of.
        let call = in_turn(move || faucet.prepare(recipient, &wanted, client)).await?;

        let sender = &self.0.setup.sender;
        let sent = sender.send_planned(|| {
            // Only now, as other payments may have been made meanwhile; until this one is in the
            // pool, there are none.
            let tag = self.admit(recipient, asset, client)?;
            Ok(OutgoingCall {
                access_list: Some(self.0.marks.access_list(tag)),
                ..call.clone()
            })
        });
        match sent.await {
            Err(FaucetError::Send(SendError::Refused(SubmitError::InsufficientFunds {
                ..
            }))) => Err(self.empty(asset)),
            sent => sent,
        }
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

        let allowance = self.0.payments.with_last_day(now, |payments| {
            config.allowance(payments, asset.token, Some(recipient), &tags, now)
        });
        match allowance.exhausted {
            // The tag of today, which is that of new payments.
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
        // The cheap check first. `pay` repeats it, right before the payment is sent.
        let tag = self.admit(recipient, asset, client)?;

        // The mark is in an access list, which transactions have since Berlin (EIP-2930).
        let chain = &self.0.setup.chain;
        let head = chain.head();
        if !chain.next_environment(&head).rules.has(Fork::Berlin) {
            return Err(FaucetError::TooOld);
        }

        let (to, value, input) = asset.payment_to(recipient);
        let balance = head
            .state
            .balance(self.account())
            .map_err(|error| asset.unpayable(error))?;
        // A payment of a token has no value, but needs gas.
        if balance < value || balance.is_zero() {
            return Err(self.empty(asset));
        }

        let call = Call {
            from: self.account(),
            to: Some(to),
            value,
            input: input.clone(),
            // The access list costs gas, too.
            access_list: Some(self.0.marks.access_list(tag)),
            ..Call::default()
        };
        let gas_limit = asset.gas_limit(&View::newest(head), &call)?;
        Ok(OutgoingCall {
            to,
            value,
            input,
            gas_limit,
            access_list: None,
        })
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
        let mut allowance = Allowance {
            remaining: u32::MAX,
            exhausted: None,
        };
        for scope in [LimitScope::Address, LimitScope::Client, LimitScope::Day] {
            let limit = self.limit(scope);
            if limit == 0 {
                continue;
            }

            let counted: Vec<_> = payments
                .iter()
                .filter(|payment| payment.token == token && scope.counts(payment, recipient, tags))
                .collect();
            let count = u32::try_from(counted.len()).unwrap_or(u32::MAX);
            allowance.remaining = allowance.remaining.min(limit.saturating_sub(count));

            // Once this payment no longer counts, there are fewer than the limit.
            let blocking = count
                .checked_sub(limit)
                .and_then(|excess| counted.get(excess as usize));
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
