//! The reasons why a Cosmos transaction is refused, in the terms of the SDK.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The codespace of the SDK's own errors.
const SDK: &str = "sdk";
/// The codespace of the bank module's errors.
const BANK: &str = "bank";

/// The reason why a Cosmos transaction is refused: a code and its codespace
/// (`types/errors/errors.go` of the SDK), with a text that ends with the SDK's name of the error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{log}")]
pub struct CosmosError {
    /// The code, never 0.
    pub code: u32,
    /// The codespace.
    pub codespace: Cow<'static, str>,
    /// The text.
    pub log: String,
}

/// Declares a constructor for each error of the SDK: what went wrong is put before its name.
macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $codespace:ident $code:literal $text:literal;)*) => {
        impl CosmosError {
            $(
                $(#[$doc])*
                pub fn $name(what: impl std::fmt::Display) -> Self {
                    let log = format!(concat!("{}: ", $text), what);
                    Self { code: $code, codespace: Cow::Borrowed($codespace), log }
                }
            )*
        }
    };
}

errors! {
    /// The bytes are not a transaction.
    parse = SDK 2 "tx parse error";
    /// The signature is invalid, or another account has to sign.
    unauthorized = SDK 4 "unauthorized";
    /// The balance is too small.
    insufficient_funds = SDK 5 "insufficient funds";
    /// The chain does not know the message.
    unknown_request = SDK 6 "unknown request";
    /// An address is malformed, or has the prefix of another chain.
    invalid_address = SDK 7 "invalid address";
    /// The public key is missing or of another type, or not that of the sender.
    invalid_pub_key = SDK 8 "invalid pubkey";
    /// The account does not exist.
    unknown_address = SDK 9 "unknown address";
    /// An amount is malformed, or zero.
    invalid_coins = SDK 10 "invalid coins";
    /// The gas limit is too low.
    out_of_gas = SDK 11 "out of gas";
    /// The memo is too long.
    memo_too_large = SDK 12 "memo too large";
    /// The fee is too low.
    insufficient_fee = SDK 13 "insufficient fee";
    /// There is no signature.
    no_signatures = SDK 15 "no signatures supplied";
    /// The transaction breaks a rule that has no code of its own.
    invalid_request = SDK 18 "invalid request";
    /// The pool has the transaction already.
    in_mempool_cache = SDK 19 "tx already in mempool";
    /// The pool is full.
    mempool_full = SDK 20 "mempool is full";
    /// The transaction is too large.
    too_large = SDK 21 "tx too large";
    /// The sequence is not the account's next one.
    wrong_sequence = SDK 32 "incorrect account sequence";
    /// An Ethereum transaction without its extension option.
    invalid_type = SDK 29 "invalid type";
    /// The block up to which the transaction is valid has passed.
    timeout_height = SDK 30 "tx timeout height";
    /// The chain does not know an extension option.
    unknown_extension = SDK 31 "unknown extension options";
    /// An error of the node.
    logic = SDK 35 "internal logic error";
    /// The gas limit exceeds that of a block.
    invalid_gas_limit = SDK 41 "invalid gas limit";
    /// There is no sender.
    no_inputs = BANK 2 "no inputs to send transaction";
    /// There is no recipient.
    no_outputs = BANK 3 "no outputs to send transaction";
    /// Senders do not pay what recipients receive.
    input_output_mismatch = BANK 4 "sum inputs != sum outputs";
    /// There are several senders.
    multiple_senders = BANK 9 "multiple senders not allowed";
}
