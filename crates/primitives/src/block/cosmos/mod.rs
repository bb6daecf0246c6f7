//! Transactions of the Cosmos SDK: transfers of the native coin, signed with the same keys as
//! Ethereum's transactions.
//!
//! In a block such a transaction is a legacy Ethereum transaction without a signature, whose input
//! is the encoded transaction (`TxRaw`), so that every tool can decode the block and the block
//! contains everything that executing it needs. The other fields follow from the input.
//!
//! Clients decode a legacy transaction whose `v`, `r` and `s` are zero, whereas an unknown type
//! (EIP-2718) makes those of geth and alloy reject the whole block. The transaction runs no code.
//! The executor verifies its signature, which covers the account's number.

mod amino;
mod eip712;
mod error;
mod ethereum;
pub mod proto;
mod signature;
mod wire;

use std::{cell::LazyCell, sync::LazyLock};

use alloy_consensus::TxLegacy;
use alloy_primitives::{Address, B256, Bytes, TxKind, U256, address, keccak256};
use bech32::{Bech32, primitives::decode::CheckedHrpstring};
use prost::Message;
use secp256k1::PublicKey;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
pub use tetrad_stdx::nesting::MAX_MESSAGE_LEVELS;
use tetrad_stdx::{digits, text::excerpt};

pub use error::CosmosError;
pub use ethereum::ethereum_tx_raw;
pub use wire::nests_within;

use self::{
    proto::{
        AddressCoins, Any, AuthInfo, Coin, ExtensionOptionsWeb3Tx, Fee, MsgEthereumTx,
        MsgMultiSend, MsgSend, PubKey, SignDoc, TxBody, TxRaw,
    },
    signature::{SIGNATURE_SIZE, SignatureRule, SignedContent, WalletSignature},
    wire::{HasKnownFields, UnknownFields, check_adr_027, check_fields, content_of_field},
};
use super::recovery::CompressedKey;

/// The recipient that a transaction with several transfers has on the Ethereum side: the address of
/// the bank's precompile in Cosmos EVM.
pub const BANK_ADDRESS: Address = address!("0x0000000000000000000000000000000000000804");

/// Most bytes of a transaction. Its legacy form must be within the pool's limit.
pub const MAX_COSMOS_TX_SIZE: usize = 120 << 10;
/// Most bytes of a memo, the default of the SDK.
pub(crate) const MAX_MEMO: usize = 256;
/// Most messages of a transaction.
pub const MAX_MESSAGES: usize = 100;
/// Most transfers of a transaction.
pub const MAX_TRANSFERS: usize = 500;

/// Most characters of a transaction's text in an error.
const MAX_SHOWN: usize = 100;
/// Most characters of a denomination in an error. Valid ones have at most 128.
const MAX_SHOWN_DENOM: usize = 130;

/// Gas of verifying a signature of `eth_secp256k1`, as in Cosmos EVM.
const SIGNATURE_GAS: u64 = 21_000;
/// Gas of each byte of the transaction, the default of the SDK.
const BYTE_GAS: u64 = 10;
/// Gas of each transfer.
const TRANSFER_GAS: u64 = 25_000;

/// `SIGN_MODE_DIRECT`.
const DIRECT: i32 = 1;
/// `SIGN_MODE_LEGACY_AMINO_JSON`.
const AMINO_JSON: i32 = 127;

/// The modules whose accounts receive no transfers, as in the SDK's own application.
const MODULES: [&str; 9] = [
    "bonded_tokens_pool",
    "distribution",
    "erc20",
    "evm",
    "fee_collector",
    "feemarket",
    "gov",
    "mint",
    "not_bonded_tokens_pool",
];

/// The parameters of a chain that its Cosmos transactions name.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CosmosNetwork {
    /// The Cosmos chain id.
    pub chain_id: String,
    /// The base denomination.
    pub denom: String,
    /// The prefix of bech32 addresses.
    pub prefix: String,
}

/// The inputs of a signature in addition to the transaction.
#[derive(Clone, Copy, Debug)]
pub struct SignerData<'a> {
    /// The Cosmos chain id.
    pub chain_id: &'a str,
    /// The Ethereum chain id, which typed data (EIP-712) names.
    pub evm_chain_id: u64,
    /// The signer's account number.
    pub account_number: u64,
}

/// A message of the bank module.
#[derive(Clone, Debug, PartialEq)]
pub enum BankMessage {
    /// A transfer.
    Send(MsgSend),
    /// Transfers from one account to several.
    MultiSend(MsgMultiSend),
}

/// A transfer of the native coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CosmosTransfer {
    /// The recipient.
    pub to: Address,
    /// The amount in the base denomination.
    pub amount: U256,
}

/// A decoded transaction.
#[derive(Clone, Debug)]
pub struct CosmosTransaction {
    /// The encoded transaction, `TxRaw`.
    pub raw: Bytes,
    /// The body.
    pub body: TxBody,
    /// The messages of the body.
    pub messages: Vec<BankMessage>,
    /// The transfers of all messages, in order.
    pub transfers: Vec<CosmosTransfer>,
    /// The sender of all messages.
    pub sender: Address,
    /// The signer's public key, or the reason why there is no valid one. A simulation needs none.
    pub public_key: Result<CompressedKey, CosmosError>,
    /// The sender's sequence, its nonce.
    pub sequence: u64,
    /// The gas limit.
    pub gas_limit: u64,
    /// The fee in the base denomination.
    pub fee: U256,
    parts: TxRaw,
    auth: AuthInfo,
}

/// A decoded transaction of either kind.
#[derive(Clone, Debug)]
pub enum DecodedTx {
    /// Transfers of the bank module.
    Bank(Box<CosmosTransaction>),
    /// A `MsgEthereumTx`: the encoding of an Ethereum transaction (EIP-2718).
    Ethereum(Bytes),
}

/// Decodes a message. As in the SDK its fields may have default values and any order, since what is
/// signed is the encoding that the client chose, but there are no unknown ones.
fn decode<M: Message + Default + HasKnownFields>(
    bytes: &[u8],
    unknown: UnknownFields,
    what: &str,
) -> Result<M, CosmosError> {
    check_fields(bytes, &M::FIELDS, unknown, what)?;
    M::decode(bytes).map_err(|error| CosmosError::parse(format!("{what}: {error}")))
}

/// The account of a bech32 address with any prefix.
fn account(text: &str) -> Result<Address, CosmosError> {
    let shown = excerpt(text, MAX_SHOWN);
    let decoded = CheckedHrpstring::new::<Bech32>(text)
        .map_err(|error| CosmosError::invalid_address(format!("{shown:?}: {error}")))?;

    let bytes: Vec<u8> = decoded.byte_iter().collect();
    let count = bytes.len();
    Address::try_from(bytes.as_slice()).map_err(|_| {
        CosmosError::invalid_address(format!("{shown:?}: {count} bytes instead of 20"))
    })
}

/// An amount in decimal digits, without sign or leading zeros.
fn amount(coin: &Coin) -> Result<U256, CosmosError> {
    let has_leading_zero = coin.amount.len() > 1 && coin.amount.starts_with('0');
    let parsed = digits::decimal(&coin.amount).filter(|_| !has_leading_zero);

    parsed.ok_or_else(|| {
        let shown = excerpt(&coin.amount, MAX_SHOWN);
        CosmosError::invalid_coins(format!("invalid amount {shown:?}"))
    })
}

/// The amount of a message's only coin, which is more than zero.
fn positive(coins: &[Coin]) -> Result<U256, CosmosError> {
    let [coin] = coins else {
        return Err(CosmosError::invalid_coins(format!(
            "{} coins instead of one",
            coins.len()
        )));
    };

    match amount(coin)? {
        U256::ZERO => Err(CosmosError::invalid_coins(format!("0{}", coin.denom))),
        amount => Ok(amount),
    }
}

impl BankMessage {
    /// Decodes a message of a body.
    fn decode(message: &Any) -> Result<Self, CosmosError> {
        let value = &message.value;
        let unknown = UnknownFields::MayBeNonCritical;
        match message.type_url.as_str() {
            "/cosmos.bank.v1beta1.MsgSend" => decode(value, unknown, "MsgSend").map(Self::Send),
            "/cosmos.bank.v1beta1.MsgMultiSend" => {
                decode(value, unknown, "MsgMultiSend").map(Self::MultiSend)
            }
            other => {
                let shown = excerpt(other, MAX_SHOWN);
                Err(CosmosError::unknown_request(format!(
                    "unsupported message {shown:?}: no message handler found"
                )))
            }
        }
    }

    /// The type URL.
    pub fn type_url(&self) -> &'static str {
        match self {
            Self::Send(_) => "/cosmos.bank.v1beta1.MsgSend",
            Self::MultiSend(_) => "/cosmos.bank.v1beta1.MsgMultiSend",
        }
    }

    /// Returns whether an encoding of the message has no other fields than those of its type.
    fn is_complete(&self, encoded: &[u8]) -> bool {
        let known = match self {
            Self::Send(_) => &MsgSend::FIELDS,
            Self::MultiSend(_) => &MsgMultiSend::FIELDS,
        };
        check_fields(encoded, known, UnknownFields::Refused, "").is_ok()
    }

    /// The sender's address and coins.
    fn source(&self) -> Result<(&str, &[Coin]), CosmosError> {
        match self {
            Self::Send(send) => Ok((&send.from_address, &send.amount)),
            Self::MultiSend(send) => match send.inputs.as_slice() {
                [input] => Ok((&input.address, &input.coins)),
                [] => Err(CosmosError::no_inputs("MsgMultiSend")),
                _ => Err(CosmosError::multiple_senders(format!(
                    "{} inputs",
                    send.inputs.len()
                ))),
            },
        }
    }

    /// The recipients' addresses and coins.
    pub fn targets(&self) -> impl Iterator<Item = (&str, &[Coin])> {
        let (one, many) = match self {
            Self::Send(send) => (
                Some((send.to_address.as_str(), send.amount.as_slice())),
                [].as_slice(),
            ),
            Self::MultiSend(send) => (None, send.outputs.as_slice()),
        };

        one.into_iter().chain(
            many.iter()
                .map(|output: &AddressCoins| (output.address.as_str(), &*output.coins)),
        )
    }

    /// The sender and the transfers.
    fn transfers(&self, transfers: &mut Vec<CosmosTransfer>) -> Result<Address, CosmosError> {
        let (from, coins) = self.source()?;
        let sender = account(from)?;
        let total = positive(coins)?;

        let mut sum = U256::ZERO;
        for (to, coins) in self.targets() {
            if transfers.len() == MAX_TRANSFERS {
                return Err(CosmosError::invalid_request(format!(
                    "more than {MAX_TRANSFERS} transfers"
                )));
            }

            let transfer = CosmosTransfer {
                to: account(to)?,
                amount: positive(coins)?,
            };
            sum = sum.saturating_add(transfer.amount);
            transfers.push(transfer);
        }

        match sum {
            U256::ZERO => Err(CosmosError::no_outputs("MsgMultiSend")),
            sum if sum == total => Ok(sender),
            sum => Err(CosmosError::input_output_mismatch(format!(
                "inputs {total}, outputs {sum}"
            ))),
        }
    }
}

impl DecodedTx {
    /// Decodes a transaction. It may lack what only a signed one has: see
    /// [`CosmosTransaction::verify`].
    pub fn decode(raw: &[u8]) -> Result<Self, CosmosError> {
        if raw.len() > MAX_COSMOS_TX_SIZE {
            let what = format!(
                "maximum size is {MAX_COSMOS_TX_SIZE} bytes, but got {}",
                raw.len()
            );
            return Err(CosmosError::too_large(what));
        }

        // Any other encoding of the same content would have another hash.
        check_adr_027(raw)?;
        let parts: TxRaw = decode(raw, UnknownFields::Refused, "TxRaw")?;
        let body: TxBody = decode(&parts.body_bytes, UnknownFields::MayBeNonCritical, "TxBody")?;
        let auth: AuthInfo = decode(&parts.auth_info_bytes, UnknownFields::Refused, "AuthInfo")?;

        match body.messages.len() {
            0 => {
                return Err(CosmosError::invalid_request(
                    "must contain at least one message",
                ));
            }
            count if count > MAX_MESSAGES => {
                return Err(CosmosError::invalid_request(format!(
                    "{count} messages, more than {MAX_MESSAGES}"
                )));
            }
            _ => {}
        }

        // Chains that descend from Ethermint have packages of their own.
        if body
            .messages
            .iter()
            .any(|message| message.type_url.ends_with(".MsgEthereumTx"))
        {
            return ethereum(&body).map(Self::Ethereum);
        }

        CosmosTransaction::new(raw, parts, body, auth)
            .map(Box::new)
            .map(Self::Bank)
    }
}

/// The Ethereum transaction in a body.
fn ethereum(body: &TxBody) -> Result<Bytes, CosmosError> {
    if !body
        .extension_options
        .iter()
        .any(|option| option.type_url.ends_with(".ExtensionOptionsEthereumTx"))
    {
        let what = "MsgEthereumTx needs to be contained within a tx with 'ExtensionOptionsEthereumTx' option";
        return Err(CosmosError::invalid_type(what));
    }

    let [message] = body.messages.as_slice() else {
        return Err(CosmosError::invalid_request(
            "a transaction with a MsgEthereumTx has no other message",
        ));
    };

    let message: MsgEthereumTx = decode(
        &message.value,
        UnknownFields::MayBeNonCritical,
        "MsgEthereumTx",
    )?;

    // Newer clients send the encoding, older ones the fields.
    match (message.raw.is_empty(), &message.data) {
        (false, _) => Ok(message.raw.into()),
        (true, Some(data)) => ethereum::from_fields(data),
        (true, None) => Err(CosmosError::invalid_request(
            "MsgEthereumTx without a transaction",
        )),
    }
}

/// The sender of the messages, which is one account, and their transfers in order. `signers` is the
/// number of signatures that the transaction has.
fn sender_and_transfers(
    messages: &[BankMessage],
    signers: usize,
) -> Result<(Address, Vec<CosmosTransfer>), CosmosError> {
    let mut transfers = Vec::with_capacity(messages.len());
    let mut sender = None;
    for message in messages {
        let from = message.transfers(&mut transfers)?;
        if *sender.get_or_insert(from) != from {
            let what = format!("wrong number of signers; expected 2, got {signers}");
            return Err(CosmosError::unauthorized(what));
        }
    }

    let sender =
        sender.ok_or_else(|| CosmosError::invalid_request("must contain at least one message"))?;
    Ok((sender, transfers))
}

/// Refuses a fee that another account than the sender pays.
fn check_fee_payer(fee: &Fee, sender: Address) -> Result<(), CosmosError> {
    if !fee.granter.is_empty() {
        return Err(CosmosError::invalid_request("fee grants are not enabled"));
    }
    if !fee.payer.is_empty() && account(&fee.payer)? != sender {
        return Err(CosmosError::unauthorized(
            "wrong number of signers; expected 2, got 1",
        ));
    }
    Ok(())
}

impl CosmosTransaction {
    fn new(raw: &[u8], parts: TxRaw, body: TxBody, auth: AuthInfo) -> Result<Self, CosmosError> {
        let messages: Vec<_> = body
            .messages
            .iter()
            .map(BankMessage::decode)
            .collect::<Result<_, _>>()?;
        let (sender, transfers) = sender_and_transfers(&messages, auth.signer_infos.len())?;

        let [signer] = auth.signer_infos.as_slice() else {
            let what = format!(
                "wrong number of signers; expected 1, got {}",
                auth.signer_infos.len()
            );
            return Err(CosmosError::unauthorized(what));
        };
        let public_key = signer
            .public_key
            .as_ref()
            .ok_or_else(|| CosmosError::invalid_pub_key("the transaction has no public key"))
            .and_then(|key| public_key(key, sender));

        let fee_amount = fee_amount(&auth)?;
        if let Some(fee) = &auth.fee {
            check_fee_payer(fee, sender)?;
        }

        // Unlike non-critical options, the SDK refuses those that it does not know.
        if let Some(option) = body
            .extension_options
            .iter()
            .find(|option| !is_web3_option(option))
        {
            let shown = excerpt(&option.type_url, MAX_SHOWN);
            return Err(CosmosError::unknown_extension(shown));
        }

        Ok(Self {
            raw: Bytes::copy_from_slice(raw),
            body,
            messages,
            transfers,
            sender,
            public_key,
            sequence: signer.sequence,
            gas_limit: auth.fee.as_ref().map_or(0, |fee| fee.gas_limit),
            fee: fee_amount,
            parts,
            auth,
        })
    }

    /// Returns the gas that the transaction needs: 21,000 for the signature, 10 for each byte and
    /// 25,000 for each transfer. A missing signature, as in a simulation, counts like one.
    pub fn gas_needed(&self) -> u64 {
        let signature = self.parts.signatures.first().map_or(0, Vec::len);
        let size = self.raw.len() + SIGNATURE_SIZE.saturating_sub(signature);
        SIGNATURE_GAS + BYTE_GAS * size as u64 + TRANSFER_GAS * self.transfers.len() as u64
    }

    /// Returns the fee as the transaction declares it.
    pub fn declared_fee(&self) -> Fee {
        self.auth.fee.clone().unwrap_or_default()
    }

    /// Returns the signatures.
    pub fn signatures(&self) -> &[Vec<u8>] {
        &self.parts.signatures
    }

    /// Returns the sender's address as the messages write it.
    pub fn sender_text(&self) -> &str {
        self.messages
            .first()
            .and_then(|message| message.source().ok())
            .map_or("", |(text, _)| text)
    }

    /// Returns the legacy transaction that stands for this one in a block. The gas price is rounded
    /// down.
    pub fn to_legacy(&self) -> Result<TxLegacy, CosmosError> {
        let price = self
            .fee
            .checked_div(U256::from(self.gas_limit))
            .unwrap_or_default();
        let gas_price = u128::try_from(price)
            .map_err(|_| CosmosError::invalid_request("the fee is too large"))?;

        // Only of a single transfer can Ethereum's interfaces show recipient and value.
        let (to, value) = match (self.messages.as_slice(), self.transfers.as_slice()) {
            ([BankMessage::Send(_)], [transfer]) => (transfer.to, transfer.amount),
            _ => (BANK_ADDRESS, U256::ZERO),
        };

        Ok(TxLegacy {
            chain_id: None,
            nonce: self.sequence,
            gas_price,
            gas_limit: self.gas_limit,
            to: TxKind::Call(to),
            value,
            input: self.raw.clone(),
        })
    }

    /// Checks everything that depends on the network, but neither on the state nor on the
    /// signature.
    pub fn check(&self, network: &CosmosNetwork) -> Result<(), CosmosError> {
        // Bytes, as Go counts them, although the SDK's message says characters.
        if self.body.memo.len() > MAX_MEMO {
            let what = format!(
                "maximum number of characters is {MAX_MEMO} but received {}",
                self.body.memo.len()
            );
            return Err(CosmosError::memo_too_large(format!("{what} characters")));
        }

        for message in &self.messages {
            let (from, coins) = message.source()?;
            for (text, coins) in std::iter::once((from, coins)).chain(message.targets()) {
                check_prefix(text, &network.prefix)?;
                if let Some(coin) = coins.iter().find(|coin| coin.denom != network.denom) {
                    // The SDK's answer: no account has coins of another denomination.
                    let denom = excerpt(&coin.denom, MAX_SHOWN_DENOM);
                    let what = format!(
                        "spendable balance 0{denom} is smaller than {}{denom}",
                        coin.amount
                    );
                    return Err(CosmosError::insufficient_funds(what));
                }
            }
        }

        if let Some(transfer) = self
            .transfers
            .iter()
            .find(|transfer| is_blocked(transfer.to))
        {
            let what = format!("{} is not allowed to receive funds", transfer.to);
            return Err(CosmosError::unauthorized(what));
        }

        let fee = self.auth.fee.iter().flat_map(|fee| &fee.amount);
        match fee.into_iter().find(|coin| coin.denom != network.denom) {
            None => Ok(()),
            Some(coin) => {
                let denom = excerpt(&coin.denom, MAX_SHOWN_DENOM);
                let what = format!(
                    "fees are paid in {}, got: {}{denom}",
                    network.denom, coin.amount
                );
                Err(CosmosError::insufficient_fee(what))
            }
        }
    }

    /// Refuses a transaction that could not be rendered as a whole: one whose messages nest too
    /// deeply, in whatever part, and one with too many extension options. If it is in a block
    /// already it is valid nevertheless.
    pub fn check_renderable(&self) -> Result<(), CosmosError> {
        if !nests_within(&self.raw, MAX_MESSAGE_LEVELS) {
            return Err(CosmosError::parse(format!(
                "messages nest more than {MAX_MESSAGE_LEVELS} levels deep"
            )));
        }

        let options = self.body.non_critical_extension_options.len();
        if options > MAX_MESSAGES {
            let what = format!("{options} extension options, more than {MAX_MESSAGES}");
            return Err(CosmosError::invalid_request(what));
        }
        Ok(())
    }

    /// Verifies the signature of a transaction that is sent.
    pub fn verify(&self, signer: &SignerData<'_>) -> Result<(), CosmosError> {
        self.verify_by(signer, SignatureRule::Sent)
    }

    /// Verifies the signature of a transaction in a block, which may have another recovery id than
    /// that of its key.
    pub fn verify_in_block(&self, signer: &SignerData<'_>) -> Result<(), CosmosError> {
        self.verify_by(signer, SignatureRule::InBlock)
    }

    fn verify_by(&self, signer: &SignerData<'_>, rule: SignatureRule) -> Result<(), CosmosError> {
        let key = self.public_key.clone()?;
        let [signature] = self.parts.signatures.as_slice() else {
            return Err(match self.parts.signatures.len() {
                0 => CosmosError::no_signatures("one is needed"),
                count => CosmosError::unauthorized(format!(
                    "wrong number of signers; expected 1, got {count}"
                )),
            });
        };

        let mode = self
            .auth
            .signer_infos
            .first()
            .and_then(|info| info.mode_info.as_ref()?.single.as_ref());
        let mode = mode.map_or(0, |single| single.mode);

        match (self.body.extension_options.as_slice(), mode) {
            ([option], AMINO_JSON) => self.verify_typed_data(option, signature, signer, rule, &key),
            ([], DIRECT | AMINO_JSON) => {
                let contents = self.signed_contents(mode, signer);
                self.verify_any(signature, signer, rule, &key, contents)
            }
            ([], mode) => Err(CosmosError::unauthorized(format!(
                "sign mode {mode} is not supported"
            ))),
            _ => Err(CosmosError::unknown_extension(
                "only with SIGN_MODE_LEGACY_AMINO_JSON, and only one",
            )),
        }
    }

    /// Verifies the signature over typed data in an extension option. `signature` is the other one
    /// that the transaction has.
    fn verify_typed_data(
        &self,
        option: &Any,
        signature: &[u8],
        signer: &SignerData<'_>,
        rule: SignatureRule,
        key: &CompressedKey,
    ) -> Result<(), CosmosError> {
        // Nor would the name of the option be signed.
        if rule == SignatureRule::Sent && !WEB3_OPTIONS.contains(&option.type_url.as_str()) {
            let shown = excerpt(&option.type_url, MAX_SHOWN);
            return Err(CosmosError::unknown_extension(shown));
        }

        let option = self.web3_option(option, signer)?;
        // It would be part of the transaction's hash without being signed.
        if rule == SignatureRule::Sent && !signature.is_empty() {
            let what = "the signature of typed data is in its extension option; the other one has to be empty";
            return Err(CosmosError::unauthorized(what));
        }

        let hash = self.legacy_eip712_hash(&option.fee_payer, signer);
        let content = hash.map(|hash| (SignedContent::TypedData, hash));
        self.verify_any(
            &option.fee_payer_sig,
            signer,
            rule,
            key,
            content.into_iter(),
        )
    }

    /// Verifies that a signature is that of one of these contents.
    fn verify_any(
        &self,
        signature: &[u8],
        signer: &SignerData<'_>,
        rule: SignatureRule,
        key: &CompressedKey,
        contents: impl Iterator<Item = (SignedContent, B256)>,
    ) -> Result<(), CosmosError> {
        let signature = WalletSignature::read(signature, rule)?;
        let key = PublicKey::from_slice(key.as_slice()).map_err(CosmosError::invalid_pub_key)?;
        for (content, hash) in contents {
            if signature.verify(hash, content, &key)? {
                return Ok(());
            }
        }

        Err(CosmosError::unauthorized(format!(
            "signature verification failed; please verify account number ({}), sequence ({}) and chain-id ({})",
            signer.account_number, self.sequence, signer.chain_id
        )))
    }

    /// Returns the hashes that the signer may have signed, each computed when it is asked for: that
    /// of the mode's sign document, and those of typed data, which Cosmos EVM accepts in both
    /// modes.
    fn signed_contents(
        &self,
        mode: i32,
        signer: &SignerData<'_>,
    ) -> impl Iterator<Item = (SignedContent, B256)> {
        let signer = *signer;
        let is_covered = self.is_covered_by_amino();
        let doc = LazyCell::new(move || amino::sign_doc(self, &signer));

        (0..3).filter_map(move |position| match position {
            0 if mode == DIRECT => Some((
                SignedContent::SignDoc,
                keccak256(self.direct_sign_bytes(&signer)),
            )),
            // Amino's document must cover all content, or a part would not be signed.
            _ if !is_covered => None,
            0 => Some((SignedContent::SignDoc, keccak256(amino::sign_bytes(&doc)))),
            1 => self
                .typed_data_hash(&doc, &signer)
                .map(|hash| (SignedContent::TypedData, hash)),
            _ => self
                .legacy_typed_data_hash(&doc, self.sender_text(), &signer)
                .map(|hash| (SignedContent::TypedData, hash)),
        })
    }

    /// The bytes that are signed in `SIGN_MODE_DIRECT`.
    fn direct_sign_bytes(&self, signer: &SignerData<'_>) -> Vec<u8> {
        SignDoc {
            body_bytes: self.parts.body_bytes.clone(),
            auth_info_bytes: self.parts.auth_info_bytes.clone(),
            chain_id: signer.chain_id.to_owned(),
            account_number: signer.account_number,
        }
        .encode_to_vec()
    }

    /// Returns whether Amino's document says everything that the body does: it has neither
    /// extensions nor unknown fields.
    fn is_covered_by_amino(&self) -> bool {
        let mut messages = self.messages.iter().zip(&self.body.messages);
        self.body.non_critical_extension_options.is_empty()
            && check_fields(
                &self.parts.body_bytes,
                &TxBody::FIELDS,
                UnknownFields::Refused,
                "",
            )
            .is_ok()
            && messages.all(|(message, encoded)| message.is_complete(&encoded.value))
    }

    /// Returns the hash that a wallet signs as typed data (EIP-712) in the present form of Cosmos
    /// EVM. `None` if the form cannot express the transaction.
    pub fn eip712_hash(&self, signer: &SignerData<'_>) -> Option<B256> {
        let doc = self
            .is_covered_by_amino()
            .then(|| amino::sign_doc(self, signer))?;
        self.typed_data_hash(&doc, signer)
    }

    /// Returns the hash that a wallet signs as typed data (EIP-712) in the form of Ethermint, as
    /// Keplr does. `None` if the form cannot express the transaction.
    pub fn legacy_eip712_hash(&self, fee_payer: &str, signer: &SignerData<'_>) -> Option<B256> {
        let doc = self
            .is_covered_by_amino()
            .then(|| amino::sign_doc(self, signer))?;
        self.legacy_typed_data_hash(&doc, fee_payer, signer)
    }

    fn typed_data_hash(&self, doc: &Value, signer: &SignerData<'_>) -> Option<B256> {
        // Its types have no field for a timeout.
        if self.body.timeout_height != 0 {
            return None;
        }
        eip712::signing_hash(doc, signer.evm_chain_id)
    }

    fn legacy_typed_data_hash(
        &self,
        doc: &Value,
        fee_payer: &str,
        signer: &SignerData<'_>,
    ) -> Option<B256> {
        // Its types have no field for a timeout.
        if self.body.timeout_height != 0 {
            return None;
        }
        eip712::legacy_signing_hash(self, doc, fee_payer, signer.evm_chain_id)
    }

    /// The extension option with a signature over typed data.
    fn web3_option(
        &self,
        option: &Any,
        signer: &SignerData<'_>,
    ) -> Result<ExtensionOptionsWeb3Tx, CosmosError> {
        let option: ExtensionOptionsWeb3Tx = decode(
            &option.value,
            UnknownFields::Refused,
            "ExtensionOptionsWeb3Tx",
        )?;

        if option.typed_data_chain_id != signer.evm_chain_id {
            let what = format!(
                "invalid chain-id: {} in the typed data",
                option.typed_data_chain_id
            );
            return Err(CosmosError::invalid_request(what));
        }

        if account(&option.fee_payer)? != self.sender {
            return Err(CosmosError::unauthorized(
                "the fee payer of the typed data is not the signer",
            ));
        }
        Ok(option)
    }
}

/// Returns the fee of an encoded transaction in the base denomination, without decoding its
/// messages. `None` if the bytes are not a transaction.
pub fn fee_of(raw: &[u8]) -> Option<U256> {
    let auth = AuthInfo::decode(content_of_field(raw, 2)?).ok()?;
    fee_amount(&auth).ok()
}

fn fee_amount(auth: &AuthInfo) -> Result<U256, CosmosError> {
    let coins = auth.fee.as_ref().map_or(&[][..], |fee| &fee.amount);
    match coins {
        [] => Ok(U256::ZERO),
        [coin] => amount(coin),
        _ => Err(CosmosError::insufficient_fee(format!(
            "{} coins instead of one",
            coins.len()
        ))),
    }
}

/// Returns the hash by which Cosmos clients know a transaction: SHA-256 of its encoding.
pub fn cosmos_hash(raw: &[u8]) -> B256 {
    B256::new(Sha256::digest(raw).into())
}

/// The public key of a signer, which must be that of the sender.
fn public_key(key: &Any, sender: Address) -> Result<CompressedKey, CosmosError> {
    // Networks have this type in packages of different names.
    if !key.type_url.ends_with(".ethsecp256k1.PubKey") {
        let shown = excerpt(&key.type_url, MAX_SHOWN);
        return Err(CosmosError::invalid_pub_key(format!(
            "unrecognized public key type {shown:?}"
        )));
    }

    let PubKey { key } = decode(&key.value, UnknownFields::Refused, "PubKey")?;
    let compressed = CompressedKey::try_from(key.as_slice())
        .map_err(|_| CosmosError::invalid_pub_key(format!("{} bytes instead of 33", key.len())))?;

    let point = PublicKey::from_slice(&key).map_err(CosmosError::invalid_pub_key)?;
    if Address::from_slice(&keccak256(&point.serialize_uncompressed()[1..])[12..]) != sender {
        let what = format!("pubKey does not match signer address {sender} with signer index: 0");
        return Err(CosmosError::invalid_pub_key(what));
    }
    Ok(compressed)
}

/// The names of the extension option with a signature over typed data.
const WEB3_OPTIONS: [&str; 2] = [
    "/ethermint.types.v1.ExtensionOptionsWeb3Tx",
    "/cosmos.evm.types.v1.ExtensionOptionsWeb3Tx",
];

/// Whether an extension option is that of a signature over typed data. Blocks may have one with
/// another prefix.
fn is_web3_option(option: &Any) -> bool {
    option.type_url.ends_with(".ExtensionOptionsWeb3Tx")
}

fn check_prefix(text: &str, prefix: &str) -> Result<(), CosmosError> {
    let found = text.rsplit_once('1').map_or("", |(found, _)| found);
    if found.eq_ignore_ascii_case(prefix) {
        Ok(())
    } else {
        let found = excerpt(found, MAX_SHOWN);
        Err(CosmosError::invalid_address(format!(
            "invalid Bech32 prefix; expected {prefix}, got {found}"
        )))
    }
}

/// Whether an account may not receive transfers: those of modules, and the bank's own address.
fn is_blocked(address: Address) -> bool {
    static BLOCKED: LazyLock<Vec<Address>> = LazyLock::new(|| {
        let module = |name: &&str| Address::from_slice(&Sha256::digest(name.as_bytes())[..20]);
        MODULES.iter().map(module).chain([BANK_ADDRESS]).collect()
    });
    BLOCKED.contains(&address)
}
