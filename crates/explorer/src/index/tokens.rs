//! Tokens: what the index knows of them, and reads of their contracts.

use std::{collections::HashMap, sync::Arc};

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::{SolCall, SolValue, sol};
use parking_lot::Mutex;
use revm::context_interface::result::ExecutionResult;
use serde::{Deserialize, Serialize};
use tetrad_chain::{Head, View};
use tetrad_evm::{Call, StateOverrides};

use super::transfers::TokenKind;

/// The gas limit of a read: ample for a token, and a bound for a contract that wastes the index's
/// time.
const READ_GAS: u64 = 500_000;

/// Reads of a token that may use up their gas at one head. Its further reads there fail without
/// being made.
const MAX_EXHAUSTED: u32 = 8;

/// The longest name or symbol, in characters; longer ones are cut.
const MAX_NAME: usize = 100;

sol! {
    function name() external view returns (string);
    function symbol() external view returns (string);
    function decimals() external view returns (uint8);
    function totalSupply() external view returns (uint256);
    function ownerOf(uint256 id) external view returns (address);
    function balanceOf(address holder) external view returns (uint256);
    interface Amounts {
        function balanceOf(address holder, uint256 id) external view returns (uint256);
    }
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// The standard of the first transfer, as [`TokenKind`]'s code.
    kind: u8,
    /// The name, if the contract has one.
    pub name: Option<String>,
    /// The symbol, if the contract has one.
    pub symbol: Option<String>,
    /// The decimals, if the contract has them.
    pub decimals: Option<u8>,
}

impl TokenRecord {
    /// A token of which only its transfers are known.
    pub(super) fn new(kind: TokenKind) -> Self {
        Self {
            kind: kind.code(),
            name: None,
            symbol: None,
            decimals: None,
        }
    }

    /// The standard of the token.
    pub fn kind(&self) -> TokenKind {
        TokenKind::of_code(self.kind)
    }

    /// Reads name, symbol and decimals from the contract.
    pub(super) fn read(&mut self, reads: &TokenReads, token: Address) {
        let output = |input: Vec<u8>| reads.output(token, input);
        self.name = output(nameCall {}.abi_encode()).and_then(|output| text(&output));
        self.symbol = output(symbolCall {}.abi_encode()).and_then(|output| text(&output));
        self.decimals = match self.kind() {
            TokenKind::Erc20 => reads.ask(token, &decimalsCall {}),
            TokenKind::Erc721 | TokenKind::Erc1155 => None,
        };
    }
}

/// Reads of tokens at one head.
pub(super) struct TokenReads {
    view: View,
    /// The number of reads of a token that used up their gas.
    exhausted: Mutex<HashMap<Address, u32>>,
}

impl TokenReads {
    pub(super) fn new(head: Arc<Head>) -> Self {
        Self {
            view: View::newest(head),
            exhausted: Mutex::default(),
        }
    }

    /// Returns whether the reads are made at this head.
    pub(super) fn are_at(&self, head: &Head) -> bool {
        self.view.head.version() == head.version()
    }

    fn output(&self, token: Address, input: Vec<u8>) -> Option<Bytes> {
        let is_exhausted = self
            .exhausted
            .lock()
            .get(&token)
            .is_some_and(|count| *count >= MAX_EXHAUSTED);
        if is_exhausted {
            return None;
        }

        match output(&self.view, token, input) {
            Ok(ExecutionResult::Success { output, .. }) => Some(output.into_data()),
            Ok(ExecutionResult::Halt { .. }) => {
                *self.exhausted.lock().entry(token).or_default() += 1;
                None
            }
            _ => None,
        }
    }

    /// Reads a token's contract; `None` if it fails or returns something else.
    fn ask<C: SolCall>(&self, token: Address, call: &C) -> Option<C::Return> {
        C::abi_decode_returns(&self.output(token, call.abi_encode())?).ok()
    }

    /// Returns a holder's balance of an ERC-20 token, or number of ERC-721 tokens.
    pub(super) fn balance(&self, token: Address, holder: Address) -> U256 {
        self.ask(token, &balanceOfCall { holder })
            .unwrap_or_default()
    }

    /// Returns a holder's amount of an ERC-1155 token.
    pub(super) fn amount(&self, token: Address, holder: Address, id: U256) -> U256 {
        self.ask(token, &Amounts::balanceOfCall { holder, id })
            .unwrap_or_default()
    }

    /// Returns the owner of an ERC-721 token.
    pub(super) fn owner(&self, token: Address, id: U256) -> Option<Address> {
        self.ask(token, &ownerOfCall { id })
            .filter(|owner| !owner.is_zero())
    }
}

fn output(view: &View, token: Address, input: Vec<u8>) -> Result<ExecutionResult, impl Sized> {
    let overrides = StateOverrides::new();
    let call = Call {
        to: Some(token),
        input: input.into(),
        ..Call::default()
    };
    view.call_context(&overrides, READ_GAS).call(&call)
}

/// Returns a text, which old tokens return as 32 bytes.
fn text(output: &Bytes) -> Option<String> {
    let text = match <[u8; 32]>::try_from(&output[..]) {
        Ok(word) => String::from_utf8_lossy(B256::from(word).as_slice())
            .trim_end_matches('\0')
            .to_owned(),
        Err(_) => String::abi_decode(output).ok()?,
    };

    // PostgreSQL's rule, which explorers' clients rely on.
    Some(
        text.chars()
            .filter(|letter| *letter != '\0')
            .take(MAX_NAME)
            .collect(),
    )
}

/// Returns the total supply of a token, if its contract says so.
pub fn total_supply(view: &View, token: Address) -> Option<U256> {
    match output(view, token, totalSupplyCall {}.abi_encode()) {
        Ok(ExecutionResult::Success { output, .. }) => {
            totalSupplyCall::abi_decode_returns(&output.into_data()).ok()
        }
        _ => None,
    }
}
