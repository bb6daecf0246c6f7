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
    let (token, topics) = (log.address, log.data.topics());
    let one = |kind, from, to, id, amount| {
        vec![TokenTransfer {
            token,
            kind,
            from,
            to,
            id,
            amount,
        }]
    };
    match topics.first() {
        Some(&Transfer::SIGNATURE_HASH) => match (topics, log.data.data.len()) {
            (&[_, from, to], 32) => {
                let amount = U256::from_be_slice(&log.data.data);
                one(
                    TokenKind::Erc20,
                    Address::from_word(from),
                    Address::from_word(to),
                    None,
                    amount,
                )
            }
            (&[_, from, to, id], 0) => {
                let id = Some(U256::from_be_bytes(id.0));
                one(
                    TokenKind::Erc721,
                    Address::from_word(from),
                    Address::from_word(to),
                    id,
                    U256::ONE,
                )
            }
            _ => Vec::new(),
        },
        Some(&TransferSingle::SIGNATURE_HASH) => match TransferSingle::decode_log_data(&log.data) {
            Ok(TransferSingle {
                from,
                to,
                id,
                value,
                ..
            }) => one(TokenKind::Erc1155, from, to, Some(id), value),
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
                each.flat_map(|(id, value)| one(TokenKind::Erc1155, from, to, Some(id), value))
                    .collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
