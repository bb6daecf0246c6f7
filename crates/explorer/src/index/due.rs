//! Reads of contracts that blocks make necessary. They are stored until the index has reached the
//! newest block, whose state then answers them: one read for any number of transfers.

use alloy_primitives::{Address, U256};

use super::{
    key::{Parts, RowKey, kind},
    transfers::{TokenKind, TokenTransfer},
};

/// A read of a token's contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DueRead {
    /// Name, symbol and decimals.
    Token { token: Address },
    /// `balanceOf(holder)`, of ERC-20 or ERC-721.
    Balance {
        token: Address,
        holder: Address,
        unique: bool,
    },
    /// `ownerOf(id)` of ERC-721.
    Owner { token: Address, id: U256 },
    /// `balanceOf(holder, id)` of ERC-1155.
    Amount {
        token: Address,
        holder: Address,
        id: U256,
    },
}

impl DueRead {
    /// Returns the reads that a transfer makes necessary.
    pub(super) fn of_transfer(transfer: &TokenTransfer) -> Vec<Self> {
        let token = transfer.token;
        let id = transfer.id.unwrap_or_default();
        // The zero address stands for mints and burns, and holds nothing.
        let holders = [transfer.from, transfer.to]
            .into_iter()
            .filter(|holder| !holder.is_zero());
        let mut reads: Vec<_> = match transfer.kind {
            TokenKind::Erc1155 => holders
                .map(|holder| Self::Amount { token, holder, id })
                .collect(),
            kind => {
                let unique = kind == TokenKind::Erc721;
                holders
                    .map(|holder| Self::Balance {
                        token,
                        holder,
                        unique,
                    })
                    .collect()
            }
        };

        if transfer.kind == TokenKind::Erc721 {
            reads.push(Self::Owner { token, id });
        }
        reads
    }

    /// Returns the reads that a stored transfer of `token` makes necessary.
    pub(super) fn of_row(token: Address, value: &[u8]) -> Vec<Self> {
        let mut parts = Parts(value);
        let kind = TokenKind::of_code(parts.byte());
        let from = parts.address();
        let to = parts.address();
        let id = parts.word();
        Self::of_transfer(&TokenTransfer {
            token,
            kind,
            from,
            to,
            id: Some(id),
            amount: U256::ZERO,
        })
    }

    pub(super) fn key(self) -> RowKey {
        let key = RowKey::new(kind::DUE);
        match self {
            Self::Token { token } => key.byte(0).address(token),
            Self::Balance {
                token,
                holder,
                unique,
            } => key
                .byte(1 + u8::from(unique))
                .address(token)
                .address(holder),
            Self::Owner { token, id } => key.byte(3).address(token).word(id),
            Self::Amount { token, holder, id } => {
                key.byte(4).address(token).address(holder).word(id)
            }
        }
    }

    pub(super) fn of_key(key: &[u8]) -> Self {
        let mut parts = Parts(key);
        parts.byte();
        let code = parts.byte();
        let token = parts.address();

        match code {
            0 => Self::Token { token },
            1 | 2 => Self::Balance {
                token,
                holder: parts.address(),
                unique: code == 2,
            },
            3 => Self::Owner {
                token,
                id: parts.word(),
            },
            _ => Self::Amount {
                token,
                holder: parts.address(),
                id: parts.word(),
            },
        }
    }
}
