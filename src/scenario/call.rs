//! Transactions of a scenario: names in place of addresses, and amounts that depend on the chain.

use std::{fmt::Display, sync::Arc};

use alloy_dyn_abi::{DynSolType, DynSolValue, JsonAbiExt};
use alloy_json_abi::Function;
use alloy_primitives::{Address, Bytes, U256, hex};
use tetrad_chain::{Chain, View};
use tetrad_contracts::contracts::{
    ReadContractError,
    bindings::{LendingLens, Token as TokenContract},
    read,
};
use tetrad_network::network::{Network, Token};
use tetrad_stdx::{
    decimal,
    nesting::{MAX_NESTING, brackets},
};

use super::{
    context::ScenarioContext,
    values::{Percentage, shortened},
};

/// The longest signature of a function in bytes.
const MAX_SIGNATURE: usize = 1_024;

/// The sender of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedAccount {
    /// The account that owns the network's contracts.
    Owner,
    /// A development account, by its position.
    Development(usize),
}

/// The input of a call.
#[derive(Clone, Debug)]
pub(super) enum CallInput {
    Data(Bytes),
    Function(Box<Function>, Vec<CallArgument>),
}

/// An argument of a function.
#[derive(Clone, Debug)]
pub(super) enum CallArgument {
    Fixed(DynSolValue),
    Amount(ChainAmount),
}

/// An amount that is read from the chain when the transaction is sent.
#[derive(Clone, Debug)]
pub(super) struct ChainAmount {
    share: Percentage,
    quantity: Quantity,
    token: Token,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    /// The lending pool's balance of the token.
    Cash,
    /// The sender's balance of it.
    Balance,
}

/// The error of a call: its function or its arguments.
#[derive(Debug)]
pub(super) enum CallError {
    Signature(String),
    Arguments(String),
}

/// Parses the name of an account.
pub(super) fn account(text: &str, context: &ScenarioContext) -> Result<NamedAccount, String> {
    if text == "owner" {
        return Ok(NamedAccount::Owner);
    }

    let index = text
        .strip_prefix("account ")
        .and_then(|index| index.parse::<usize>().ok());
    match index {
        Some(index) if index < context.accounts.len() => Ok(NamedAccount::Development(index)),
        Some(index) => Err(format!(
            "no account {index}: the node has {}",
            context.accounts.len()
        )),
        None => Err(format!(
            "expected \"owner\" or an account such as \"account 1\", got {:?}",
            shortened(text)
        )),
    }
}

/// Parses an address, or the name of an account, a contract or a token.
pub(super) fn address(text: &str, context: &ScenarioContext) -> Result<Address, String> {
    let contracts = context.network.as_ref().map(|network| network.contracts);
    let contract = match text {
        "owner" => return Ok(context.owner),
        "vault" => contracts.map(|contracts| contracts.vault),
        "oracle" => contracts.map(|contracts| contracts.oracle),
        "lending-pool" => contracts.map(|contracts| contracts.lending_pool),
        "lending-lens" => contracts.map(|contracts| contracts.lending_lens),
        _ => None,
    };

    if let Some(contract) = contract {
        return Ok(contract);
    }

    if text.starts_with("account ") {
        return match account(text, context)? {
            NamedAccount::Development(index) => {
                Ok(context.accounts.get(index).copied().unwrap_or_default())
            }
            NamedAccount::Owner => Ok(context.owner),
        };
    }

    if let Some(token) = context
        .network
        .as_ref()
        .and_then(|network| network.token(text))
    {
        return Ok(token.address);
    }

    text.parse().map_err(|_| {
        let text = shortened(text);
        format!(
            "expected an address, a token, \"account N\", \"owner\", \"vault\", \"oracle\", \"lending-pool\" or \
             \"lending-lens\", got {text:?}"
        )
    })
}

/// Parses a function with its arguments.
pub(super) fn function(
    signature: &str,
    arguments: &[String],
    context: &ScenarioContext,
) -> Result<CallInput, CallError> {
    // The parser calls itself for each opening bracket.
    if signature.len() > MAX_SIGNATURE || brackets(signature) > MAX_NESTING {
        let expected = format!(
            "a function of at most {MAX_SIGNATURE} bytes and {MAX_NESTING} opening brackets"
        );
        return Err(CallError::Signature(format!(
            "expected {expected}, got {:?}",
            shortened(signature)
        )));
    }

    let function = Function::parse(signature).map_err(|error| {
        let expected = "expected a function such as \"deposit(address,uint256)\"";
        CallError::Signature(format!("{expected}{}", reason(&error)))
    })?;

    if function.inputs.len() != arguments.len() {
        let expected = function.inputs.len();
        let what = format!(
            "{signature} takes {expected} arguments, got {}",
            arguments.len()
        );
        return Err(CallError::Arguments(what));
    }

    let mut parsed = Vec::with_capacity(arguments.len());
    for (position, (input, text)) in function.inputs.iter().zip(arguments).enumerate() {
        let kind = DynSolType::parse(&input.selector_type())
            .map_err(|error| CallError::Signature(format!("unknown type{}", reason(&error))))?;
        let argument = argument(&kind, text, context)
            .map_err(|what| CallError::Arguments(format!("argument {}: {what}", position + 1)))?;
        parsed.push(argument);
    }
    Ok(CallInput::Function(Box::new(function), parsed))
}

fn argument(
    kind: &DynSolType,
    text: &str,
    context: &ScenarioContext,
) -> Result<CallArgument, String> {
    match kind {
        DynSolType::Address => address(text, context)
            .map(DynSolValue::Address)
            .map(CallArgument::Fixed),
        DynSolType::Uint(256) => amount(text, context.network.as_deref()),
        kind => {
            let value = kind.coerce_str(text);
            value.map(CallArgument::Fixed).map_err(|error| {
                format!(
                    "expected {kind}, got {:?}{}",
                    shortened(text),
                    reason(&error)
                )
            })
        }
    }
}

/// The reason for an error of the parser, in brackets. Its text repeats the input and ends with a
/// line that has the reason.
fn reason(error: &impl Display) -> String {
    let text = error.to_string();
    let reason = text.lines().last().map(str::trim).unwrap_or_default();
    if reason.is_empty() {
        String::new()
    } else {
        format!(" ({})", shortened(reason))
    }
}

/// Parses a number, `max`, whole tokens such as `10 WETH`, or what there is of a token, such as
/// `50% cash WETH`.
fn amount(text: &str, network: Option<&Network>) -> Result<CallArgument, String> {
    let fixed = |number| Ok(CallArgument::Fixed(DynSolValue::Uint(number, 256)));
    if text == "max" {
        return fixed(U256::MAX);
    }
    if let Ok(number) = text.parse::<U256>() {
        return fixed(number);
    }
    let words: Vec<_> = text.split_whitespace().collect();
    let (share, words) = match words.split_first() {
        Some((first, rest)) if let Some(share) = Percentage::parse(first) => (share, rest),
        _ => (Percentage(10_000), &words[..]),
    };

    match *words {
        ["cash", name] => Ok(CallArgument::Amount(ChainAmount {
            share,
            quantity: Quantity::Cash,
            token: token(network, name)?.clone(),
        })),
        ["balance", name] => Ok(CallArgument::Amount(ChainAmount {
            share,
            quantity: Quantity::Balance,
            token: token(network, name)?.clone(),
        })),
        [number, name] if share == Percentage(10_000) => {
            let token = token(network, name)?;
            let number = decimal::parse(number, token.decimals).ok_or_else(|| {
                format!(
                    "expected an amount such as \"10 WETH\", got {:?}",
                    shortened(text)
                )
            })?;
            fixed(U256::from(number))
        }
        _ => Err(format!(
            "expected a number, \"max\", \"10 WETH\", \"50% cash WETH\" or \"balance WETH\", got {:?}",
            shortened(text)
        )),
    }
}

fn token<'a>(network: Option<&'a Network>, name: &str) -> Result<&'a Token, String> {
    network
        .and_then(|network| network.token(name))
        .ok_or_else(|| format!("no token {:?}", shortened(name)))
}

impl CallInput {
    /// Parses call data.
    pub(super) fn data(text: &str) -> Result<Self, String> {
        let data =
            hex::decode(text).map_err(|error| format!("expected 0x and hex digits ({error})"))?;
        Ok(Self::Data(data.into()))
    }

    /// Encodes the call as of the newest block.
    pub(super) fn encode(
        &self,
        chain: &Chain,
        lens: Address,
        sender: Address,
    ) -> Result<Bytes, String> {
        let (function, arguments) = match self {
            Self::Data(data) => return Ok(data.clone()),
            Self::Function(function, arguments) => (function, arguments),
        };

        let view = View::newest(Arc::clone(&chain.head()));
        let values = arguments
            .iter()
            .map(|argument| argument.value(&view, lens, sender))
            .collect::<Result<Vec<_>, String>>()?;

        function
            .abi_encode_input(&values)
            .map(Bytes::from)
            .map_err(|error| error.to_string())
    }
}

impl CallArgument {
    /// The value, for which an amount is read from the chain.
    fn value(&self, view: &View, lens: Address, sender: Address) -> Result<DynSolValue, String> {
        match self {
            Self::Fixed(value) => Ok(value.clone()),
            Self::Amount(amount) => {
                let amount = amount
                    .read(view, lens, sender)
                    .map_err(|error| error.to_string())?;
                Ok(DynSolValue::Uint(amount, 256))
            }
        }
    }
}

impl ChainAmount {
    fn read(&self, view: &View, lens: Address, sender: Address) -> Result<U256, ReadContractError> {
        let whole = match self.quantity {
            Quantity::Cash => {
                read(
                    view,
                    lens,
                    &LendingLens::getPoolCall {
                        asset: self.token.address,
                    },
                )?
                .cash
            }
            Quantity::Balance => read(
                view,
                self.token.address,
                &TokenContract::balanceOfCall { account: sender },
            )?,
        };
        // Amounts are below 2^128.
        Ok(whole.saturating_mul(U256::from(self.share.0)) / U256::from(10_000))
    }
}
