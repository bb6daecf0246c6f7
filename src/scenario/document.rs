//! The document of a scenario, in TOML, and its checks. Errors name the line and the key.

use std::{ops::Range, time::Duration};

use alloy_primitives::{Address, U256};
use axum::http::StatusCode;
use ipnet::IpNet;
use serde::Deserialize;
use tetrad_network::network::Network;
use tetrad_stdx::{calendar::DAY, decimal};
use tetrad_web::{Fault, FaultClients, FaultScope, MAX_CLIENT_NAME};
use toml::Spanned;

use super::{
    call::{self, CallError, CallInput, NamedAccount},
    context::ScenarioContext,
    values::{DollarPrice, DurationText, Percentage, PriceChange, StepTime, shortened},
};

/// Most bytes of a document.
pub(super) const MAX_BYTES: usize = 64 << 10;
/// Most steps.
const MAX_STEPS: usize = 256;
/// Most arguments and tokens of a step.
const MAX_LIST: usize = 32;
/// Most characters of a name and of a description.
const MAX_NAME: usize = 100;
const MAX_DESCRIPTION: usize = 1_000;
/// The longest duration of a scenario.
const MAX_DURATION: Duration = Duration::from_secs(7 * DAY);
/// The longest delay of a request.
const MAX_LATENCY: Duration = Duration::from_secs(60);
/// The longest jump of the chain's time.
const MAX_ADVANCE: Duration = Duration::from_secs(366 * DAY);
/// Most blocks that a reorganisation replaces.
const MAX_DEPTH: u64 = 64;
/// Default gas limit of a transaction.
const DEFAULT_GAS: u64 = 2_000_000;
/// The highest gas limit of a transaction (EIP-7825).
const MAX_GAS: u64 = 16_777_216;

/// The error of a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {key}{what}")]
pub struct DocumentError {
    line: usize,
    /// The key with a colon, if there is one.
    key: String,
    what: String,
}

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(super) name: String,
    pub(super) description: String,
    /// Its duration. Whatever it holds is released at its end.
    pub(super) lasts: Duration,
    pub(super) steps: Vec<ScenarioStep>,
}

/// An action at a time.
#[derive(Clone, Debug)]
pub(super) struct ScenarioStep {
    pub(super) when: When,
    pub(super) action: StepAction,
}

/// The time of a step, counted from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    After(Duration),
    /// A number of blocks.
    Block(u64),
    /// The scenario's end, also if it is stopped.
    End,
}

/// The effect of a step.
#[derive(Clone, Debug)]
pub(super) enum StepAction {
    /// Moves prices.
    Price {
        tokens: Vec<usize>,
        target: PriceTarget,
        /// Duration of the move, in seconds; 0 for a jump.
        over_seconds: u64,
        lasts: Option<Duration>,
    },
    /// Stops the updates of prices.
    Silence {
        tokens: Vec<usize>,
        lasts: Option<Duration>,
    },
    Transaction(Box<StepTransaction>),
    /// Advances the chain's time, in seconds.
    Advance(u64),
    /// Replaces this number of blocks.
    Reorg(u64),
    /// Slow and failing requests, and the cut of WebSockets.
    Fault {
        fault: Fault,
        cut: bool,
        lasts: Option<Duration>,
    },
}

/// The target of a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PriceTarget {
    /// US dollars × 10^8.
    Price(u64),
    /// A change in basis points.
    Change(i64),
}

/// A transaction without a nonce and fees.
#[derive(Clone, Debug)]
pub(super) struct StepTransaction {
    pub(super) from: NamedAccount,
    pub(super) to: Address,
    pub(super) input: CallInput,
    pub(super) value: U256,
    pub(super) gas: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScenario {
    name: Spanned<String>,
    #[serde(default)]
    description: Option<Spanned<String>>,
    lasts: Spanned<DurationText>,
    #[serde(default)]
    step: Vec<Spanned<RawStep>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    at: Option<Spanned<StepTime>>,
    block: Option<Spanned<u64>>,
    price: Option<RawPrice>,
    silence: Option<RawSilence>,
    transaction: Option<RawTransaction>,
    advance: Option<Spanned<DurationText>>,
    reorg: Option<Spanned<u64>>,
    fault: Option<Spanned<RawFault>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPrice {
    tokens: Spanned<Vec<Spanned<String>>>,
    to: Option<Spanned<DollarPrice>>,
    change: Option<Spanned<PriceChange>>,
    over: Option<Spanned<DurationText>>,
    #[serde(rename = "for")]
    lasts: Option<Spanned<DurationText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSilence {
    tokens: Spanned<Vec<Spanned<String>>>,
    #[serde(rename = "for")]
    lasts: Option<Spanned<DurationText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTransaction {
    from: Spanned<String>,
    to: Spanned<String>,
    call: Option<Spanned<String>>,
    args: Option<Spanned<Vec<String>>>,
    data: Option<Spanned<String>>,
    value: Option<Spanned<String>>,
    gas: Option<Spanned<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFault {
    interface: Option<Spanned<String>>,
    client: Option<Spanned<String>>,
    latency: Option<Spanned<DurationText>>,
    errors: Option<Spanned<Percentage>>,
    status: Option<Spanned<u16>>,
    #[serde(default)]
    cut: bool,
    #[serde(rename = "for")]
    lasts: Option<Spanned<DurationText>>,
}

/// The title and the description of a document.
#[derive(Default, Deserialize)]
pub(super) struct ScenarioSummary {
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
}

impl ScenarioSummary {
    /// Reads them from a valid document.
    pub(super) fn of(document: &str) -> Self {
        toml::from_str(document).unwrap_or_default()
    }
}

/// A document while it is checked.
struct Reader<'a> {
    text: &'a str,
    context: &'a ScenarioContext,
    lasts: Duration,
}

impl Scenario {
    /// Parses and checks a document.
    ///
    /// # Errors
    /// Names the line and the key, and says what was expected.
    pub fn parse(text: &str, context: &ScenarioContext) -> Result<Self, DocumentError> {
        if text.len() > MAX_BYTES {
            let what = format!("a scenario may have at most {MAX_BYTES} bytes");
            return Err(DocumentError {
                line: 1,
                key: String::new(),
                what,
            });
        }

        let raw: RawScenario = toml::from_str(text).map_err(|error| syntax_error(text, &error))?;

        let reader = Reader {
            text,
            context,
            lasts: raw.lasts.get_ref().0,
        };

        reader.limit(
            "name",
            &raw.name,
            raw.name.get_ref().chars().count(),
            1..=MAX_NAME,
            "characters",
        )?;
        if let Some(description) = &raw.description {
            let length = description.get_ref().chars().count();
            reader.limit(
                "description",
                description,
                length,
                0..=MAX_DESCRIPTION,
                "characters",
            )?;
        }

        if reader.lasts.is_zero() || reader.lasts > MAX_DURATION {
            return Err(reader.error(&raw.lasts, "lasts", "expected more than 0s and at most 7d"));
        }
        if let Some(step) = raw.step.get(MAX_STEPS) {
            return Err(reader.error(
                step,
                "step",
                &format!("a scenario has at most {MAX_STEPS} steps"),
            ));
        }

        let steps = raw
            .step
            .into_iter()
            .map(|step| reader.step(step))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            name: raw.name.into_inner(),
            description: raw.description.map(Spanned::into_inner).unwrap_or_default(),
            lasts: reader.lasts,
            steps,
        })
    }
}

impl Reader<'_> {
    fn step(&self, raw: Spanned<RawStep>) -> Result<ScenarioStep, DocumentError> {
        let place = raw.span();
        let wrong = |what: &str| error_at(self.text, &place, "step", what);
        let RawStep {
            at,
            block,
            price,
            silence,
            transaction,
            advance,
            reorg,
            fault,
        } = raw.into_inner();

        let when = match (at, block) {
            (Some(at), None) => match *at.get_ref() {
                StepTime::End => When::End,
                StepTime::After(after) if after <= self.lasts => When::After(after),
                StepTime::After(_) => {
                    return Err(self.error(&at, "at", "is after the scenario's end (lasts)"));
                }
            },
            (None, Some(block)) => When::Block(block.into_inner()),
            _ => return Err(wrong("expected one of `at` and `block`")),
        };

        let mut actions = Vec::new();
        actions.extend(price.map(|price| self.price(price)).transpose()?);
        actions.extend(silence.map(|silence| self.silence(silence)).transpose()?);
        actions.extend(
            transaction
                .map(|transaction| self.transaction(transaction))
                .transpose()?,
        );
        actions.extend(advance.map(|advance| self.advance(advance)).transpose()?);
        actions.extend(reorg.map(|depth| self.reorg(depth)).transpose()?);
        actions.extend(fault.map(|fault| self.fault(fault)).transpose()?);

        let action = actions.pop().filter(|_| actions.is_empty());
        let action = action.ok_or_else(|| {
            wrong(
                "expected one of `price`, `silence`, `transaction`, `advance`, `reorg` and `fault`",
            )
        })?;

        if when == When::End && !matches!(action, StepAction::Transaction(_)) {
            return Err(wrong(
                "only a `transaction` can be at the end: everything else ends by itself",
            ));
        }
        Ok(ScenarioStep { when, action })
    }

    fn price(&self, raw: RawPrice) -> Result<StepAction, DocumentError> {
        let tokens = self.tokens(&raw.tokens)?;

        let target = match (&raw.to, &raw.change) {
            (Some(price), None) => PriceTarget::Price(price.get_ref().0),
            (None, Some(change)) => PriceTarget::Change(change.get_ref().0),
            _ => return Err(self.error(&raw.tokens, "price", "expected one of `to` and `change`")),
        };

        let over_seconds = match &raw.over {
            Some(over) if over.get_ref().0 > self.lasts => {
                return Err(self.error(over, "over", "is longer than the scenario (lasts)"));
            }
            Some(over) => self.whole_seconds(over, "over")?,
            None => 0,
        };

        Ok(StepAction::Price {
            tokens,
            target,
            over_seconds,
            lasts: raw.lasts.map(|lasts| lasts.get_ref().0),
        })
    }

    fn silence(&self, raw: RawSilence) -> Result<StepAction, DocumentError> {
        Ok(StepAction::Silence {
            tokens: self.tokens(&raw.tokens)?,
            lasts: raw.lasts.map(|lasts| lasts.get_ref().0),
        })
    }

    fn tokens(&self, raw: &Spanned<Vec<Spanned<String>>>) -> Result<Vec<usize>, DocumentError> {
        let Some(network) = self
            .context
            .network
            .as_ref()
            .filter(|_| self.context.has_prices)
        else {
            return Err(self.error(
                raw,
                "tokens",
                "prices do not move on this node (see exchange.price-tick)",
            ));
        };

        self.limit("tokens", raw, raw.get_ref().len(), 1..=MAX_LIST, "tokens")?;
        raw.get_ref()
            .iter()
            .map(|name| self.token(network, name))
            .collect()
    }

    /// Returns the position of a token in the network's list.
    fn token(&self, network: &Network, name: &Spanned<String>) -> Result<usize, DocumentError> {
        let token = network.token(name.get_ref());
        let position = token.and_then(|token| {
            network
                .tokens
                .iter()
                .position(|one| one.address == token.address)
        });
        position.ok_or_else(|| {
            let what = format!("no token {:?}", shortened(name.get_ref()));
            self.error(name, "tokens", &what)
        })
    }

    fn transaction(&self, raw: RawTransaction) -> Result<StepAction, DocumentError> {
        let from = call::account(raw.from.get_ref(), self.context);
        let from = from.map_err(|what| self.error(&raw.from, "from", &what))?;
        let to = call::address(raw.to.get_ref(), self.context);
        let to = to.map_err(|what| self.error(&raw.to, "to", &what))?;

        let input = match (&raw.call, &raw.data, &raw.args) {
            (Some(signature), None, args) => {
                let arguments = args
                    .as_ref()
                    .map(Spanned::get_ref)
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                if let Some(args) = args {
                    self.limit("args", args, arguments.len(), 0..=MAX_LIST, "arguments")?;
                }
                call::function(signature.get_ref(), arguments, self.context).map_err(
                    |error| match (error, args) {
                        (CallError::Arguments(what), Some(args)) => self.error(args, "args", &what),
                        (CallError::Arguments(what) | CallError::Signature(what), _) => {
                            self.error(signature, "call", &what)
                        }
                    },
                )?
            }
            (None, Some(data), None) => {
                CallInput::data(data.get_ref()).map_err(|what| self.error(data, "data", &what))?
            }
            (None, None, None) => CallInput::Data(Default::default()),
            _ => {
                return Err(self.error(
                    &raw.to,
                    "transaction",
                    "expected `call` with `args`, or `data`",
                ));
            }
        };

        let value = match &raw.value {
            Some(value) => decimal::parse(value.get_ref(), 18)
                .ok_or_else(|| self.error(value, "value", "expected coins, such as \"1.5\""))?,
            None => 0,
        };

        let gas = match &raw.gas {
            // A transaction without data pays 21,000 gas (Yellow Paper, 6.2).
            Some(gas) if !(21_000..=MAX_GAS).contains(gas.get_ref()) => {
                return Err(self.error(gas, "gas", &format!("expected 21000 to {MAX_GAS}")));
            }
            Some(gas) => *gas.get_ref(),
            None => DEFAULT_GAS,
        };

        Ok(StepAction::Transaction(Box::new(StepTransaction {
            from,
            to,
            input,
            value: U256::from(value),
            gas,
        })))
    }

    fn advance(&self, raw: Spanned<DurationText>) -> Result<StepAction, DocumentError> {
        self.needs_development(&raw, "advance")?;
        let DurationText(advance) = *raw.get_ref();
        if advance < Duration::from_secs(1) || advance > MAX_ADVANCE {
            return Err(self.error(&raw, "advance", "expected 1s to 366d"));
        }
        self.whole_seconds(&raw, "advance").map(StepAction::Advance)
    }

    /// The time of blocks has no fractions of a second.
    fn whole_seconds(&self, raw: &Spanned<DurationText>, key: &str) -> Result<u64, DocumentError> {
        let DurationText(duration) = raw.get_ref();
        match duration.subsec_nanos() {
            0 => Ok(duration.as_secs()),
            _ => Err(self.error(raw, key, "expected whole seconds")),
        }
    }

    fn reorg(&self, raw: Spanned<u64>) -> Result<StepAction, DocumentError> {
        self.needs_development(&raw, "reorg")?;
        match *raw.get_ref() {
            depth @ 1..=MAX_DEPTH => Ok(StepAction::Reorg(depth)),
            _ => Err(self.error(&raw, "reorg", &format!("expected 1 to {MAX_DEPTH} blocks"))),
        }
    }

    fn needs_development<T>(&self, raw: &Spanned<T>, key: &str) -> Result<(), DocumentError> {
        if self.context.development {
            return Ok(());
        }
        Err(self.error(
            raw,
            key,
            "needs the development methods, which this node does not have",
        ))
    }

    fn fault(&self, fault: Spanned<RawFault>) -> Result<StepAction, DocumentError> {
        let place = fault.span();
        let raw = fault.into_inner();

        let scope = self.scope(raw.interface.as_ref())?;
        let clients = match &raw.client {
            None => FaultClients::All,
            Some(client) => {
                clients(client.get_ref()).map_err(|what| self.error(client, "client", &what))?
            }
        };

        let latency = raw
            .latency
            .as_ref()
            .map_or(Duration::ZERO, |latency| latency.get_ref().0);
        if let Some(raw) = raw.latency.as_ref().filter(|_| latency > MAX_LATENCY) {
            return Err(self.error(raw, "latency", "expected at most 60s"));
        }

        let status = match &raw.status {
            None => StatusCode::SERVICE_UNAVAILABLE,
            Some(status) => StatusCode::from_u16(*status.get_ref())
                .ok()
                .filter(|status| status.is_client_error() || status.is_server_error())
                .ok_or_else(|| {
                    self.error(status, "status", "expected an HTTP status from 400 to 599")
                })?,
        };

        let failing = raw.errors.as_ref().map_or(0, |share| share.get_ref().0);
        if latency.is_zero() && failing == 0 && !raw.cut {
            return Err(error_at(
                self.text,
                &place,
                "fault",
                "expected one of `latency`, `errors` and `cut`",
            ));
        }

        let fault = Fault {
            scope,
            clients,
            latency,
            failing,
            status,
        };
        Ok(StepAction::Fault {
            fault,
            cut: raw.cut,
            lasts: raw.lasts.map(|lasts| lasts.get_ref().0),
        })
    }

    /// JSON-RPC, unless the document names an interface.
    fn scope(&self, interface: Option<&Spanned<String>>) -> Result<FaultScope, DocumentError> {
        let Some(name) = interface else {
            return Ok(FaultScope::Rpc);
        };
        match name.get_ref().as_str() {
            "rpc" => Ok(FaultScope::Rpc),
            "rest" => Ok(FaultScope::Rest),
            "prices" => Ok(FaultScope::Prices),
            _ => Err(self.error(
                name,
                "interface",
                "expected \"rpc\", \"rest\" or \"prices\"",
            )),
        }
    }

    fn limit<T>(
        &self,
        key: &str,
        raw: &Spanned<T>,
        found: usize,
        allowed: std::ops::RangeInclusive<usize>,
        unit: &str,
    ) -> Result<(), DocumentError> {
        if allowed.contains(&found) {
            return Ok(());
        }
        let what = format!(
            "expected {} to {} {unit}, got {found}",
            allowed.start(),
            allowed.end()
        );
        Err(self.error(raw, key, &what))
    }

    fn error<T>(&self, raw: &Spanned<T>, key: &str, what: &str) -> DocumentError {
        error_at(self.text, &raw.span(), key, what)
    }
}

/// Parses the clients of a fault: an address, a range of addresses, or a name.
fn clients(text: &str) -> Result<FaultClients, String> {
    if let Ok(network) = text.parse::<IpNet>() {
        return Ok(FaultClients::Network(network));
    }
    if let Ok(address) = text.parse::<std::net::IpAddr>() {
        return Ok(FaultClients::Network(address.into()));
    }

    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if !text.is_empty() && text.len() <= MAX_CLIENT_NAME && text.chars().all(is_name) {
        return Ok(FaultClients::Named(text.to_owned()));
    }
    Err(format!(
        "expected an address, a range such as 10.0.0.0/8, or a name of up to {MAX_CLIENT_NAME} letters, digits, \
         - _ and ., got {:?}",
        shortened(text)
    ))
}

/// The error of a text that is not TOML, or not that of a scenario.
fn syntax_error(text: &str, error: &toml::de::Error) -> DocumentError {
    let place = error.span().unwrap_or_default();
    error_at(
        text,
        &place,
        &key_before(text, place.start),
        error.message(),
    )
}

fn error_at(text: &str, place: &Range<usize>, key: &str, what: &str) -> DocumentError {
    let line = text
        .bytes()
        .take(place.start)
        .filter(|byte| *byte == b'\n')
        .count()
        + 1;
    let key = if key.is_empty() {
        String::new()
    } else {
        format!("{key}: ")
    };
    DocumentError {
        line,
        key,
        what: what.trim_end().replace('\n', " "),
    }
}

/// The key whose value begins at a position; empty if there is none.
fn key_before(text: &str, position: usize) -> String {
    let before = text.get(..position).unwrap_or_default().trim_end();
    let Some(before) = before.strip_suffix('=') else {
        return String::new();
    };

    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let key: Vec<char> = before
        .trim_end()
        .chars()
        .rev()
        .take_while(|letter| is_part(*letter))
        .collect();
    key.into_iter().rev().collect()
}
