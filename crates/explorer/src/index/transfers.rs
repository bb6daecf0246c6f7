//! Token transfers, from the standard events of ERC-20, ERC-721 and ERC-1155.

use alloy_primitives::{Address, Log, U256};
use alloy_sol_types::{SolEvent, sol};

sol! {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value);
    event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values);
}

/// The standard that a token follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenKind {
    /// Fungible.
    Erc20,
    /// Unique tokens with an id each.
    Erc721,
    /// Amounts of several tokens with an id each.
    Erc1155,
}

impl TokenKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Erc20, Self::Erc721, Self::Erc1155];

    /// Returns the name that explorers use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Erc20 => "ERC-20",
            Self::Erc721 => "ERC-721",
            Self::Erc1155 => "ERC-1155",
        }
    }

    pub(super) fn code(self) -> u8 {
        self as u8
    }

    pub(super) fn of_code(code: u8) -> Self {
        Self::ALL
            .get(usize::from(code))
            .copied()
            .unwrap_or(Self::Erc20)
    }
}

/// A transfer of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenTransfer {
    /// The token's contract.
    pub token: Address,
    /// The standard of the event.
    pub kind: TokenKind,
    /// The sender; zero for a mint.
    pub from: Address,
    /// The recipient; zero for a burn.
    pub to: Address,
    /// The token's id; `None` for ERC-20.
    pub id: Option<U256>,
    /// The amount; one for ERC-721.
    pub amount: U256,
}

/// Returns the transfers that a log reports: one, or one for each id of a batch.
pub fn transfers_of(log: &Log) -> Vec<TokenTransfer> {
    let token = log.address;
    let topics = log.data.topics();
    match topics.first() {
        Some(&Transfer::SIGNATURE_HASH) => match (topics, log.data.data.len()) {
            // ERC-20 and ERC-721 share the event: the id is indexed, and the amount is not.
            (&[_, from, to], 32) => vec![TokenTransfer {
                token,
                kind: TokenKind::Erc20,
                from: Address::from_word(from),
                to: Address::from_word(to),
                id: None,
                amount: U256::from_be_slice(&log.data.data),
            }],
            (&[_, from, to, id], 0) => vec![TokenTransfer {
                token,
                kind: TokenKind::Erc721,
                from: Address::from_word(from),
                to: Address::from_word(to),
                id: Some(U256::from_be_bytes(id.0)),
                amount: U256::ONE,
            }],
            _ => Vec::new(),
        },
        Some(&TransferSingle::SIGNATURE_HASH) => match TransferSingle::decode_log_data(&log.data) {
            Ok(TransferSingle {
                from,
                to,
                id,
                value,
                ..
            }) => vec![of_id(token, from, to, id, value)],
            Err(_) => Vec::new(),
        },
        Some(&TransferBatch::SIGNATURE_HASH) => match TransferBatch::decode_log_data(&log.data) {
            Ok(TransferBatch {
                from,
                to,
                ids,
                values,
                ..
            }) if ids.len() == values.len() => {
                let each = ids.into_iter().zip(values);
                each.map(|(id, value)| of_id(token, from, to, id, value))
                    .collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Returns the transfer of an amount of an ERC-1155 token.
fn of_id(token: Address, from: Address, to: Address, id: U256, amount: U256) -> TokenTransfer {
    TokenTransfer {
        token,
        kind: TokenKind::Erc1155,
        from,
        to,
        id: Some(id),
        amount,
    }
}
