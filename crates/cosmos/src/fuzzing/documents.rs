//! The documents that wallets sign, written independently of the code that verifies them: the
//! encoding of `SignDoc`, Amino's JSON as text, and typed data as a document that a library for
//! Ethereum hashes.

use alloy_dyn_abi::TypedData;
use alloy_primitives::{Address, B256, keccak256};
use bech32::{Bech32, Hrp};
use prost::Message;
use secp256k1::{Message as Digest, PublicKey, SECP256K1, SecretKey};
use serde_json::{Map, Value, json};
use tetrad_primitives::block::cosmos::{
    SignerData,
    proto::{
        AddressCoins, Any, AuthInfo, Coin, ExtensionOptionsWeb3Tx, Fee, ModeInfo, MsgMultiSend,
        MsgSend, PubKey, SignerInfo, SingleMode, TxBody, TxRaw,
    },
};
use tetrad_stdx::text::excerpt;

const CHAIN_ID: &str = "hyperpax_125-1";
const EVM_CHAIN_ID: u64 = 125;
/// The most characters of a memo, and of a denomination.
const MAX_TEXT: usize = 64;
/// The most transfers.
const MAX_TRANSFERS: usize = 4;

/// A way in which wallets sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignMode {
    Direct,
    Amino,
    /// Typed data in the present form of Cosmos EVM.
    TypedData,
    /// Typed data in the form of Ethermint.
    LegacyTypedData,
    /// The same, with the signature in an extension option.
    Extension,
}

const MODES: [SignMode; 5] = [
    SignMode::Direct,
    SignMode::Amino,
    SignMode::TypedData,
    SignMode::LegacyTypedData,
    SignMode::Extension,
];

/// A transaction with its signature.
#[derive(Debug)]
pub(super) struct SignedTx {
    pub(super) raw: Vec<u8>,
    account_number: u64,
}

/// The content of a transaction.
struct Content {
    account_number: u64,
    sequence: u64,
    timeout_height: u64,
    gas: u64,
    /// The fee; `None` for no coins.
    fee: Option<Coin>,
    memo: String,
    from: String,
    /// The recipient and the coin of each transfer.
    transfers: Vec<(String, Coin)>,
    /// Whether all transfers are in one message.
    is_multi_send: bool,
}

/// Numbers and texts from bytes; zeros and nothing after their end.
struct Source<'b>(&'b [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// A number, most often a small one.
    fn number(&mut self) -> u64 {
        let length = usize::from(self.byte()) % 9;
        (0..length).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    fn text(&mut self) -> String {
        let length = usize::from(self.byte()).min(self.0.len());
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        excerpt(&String::from_utf8_lossy(text), MAX_TEXT).to_owned()
    }

    fn coin(&mut self) -> Coin {
        Coin {
            denom: self.text(),
            amount: (self.number().max(1)).to_string(),
        }
    }
}

impl Content {
    fn from_bytes(bytes: &[u8], from: String) -> Self {
        let source = &mut Source(bytes);
        let account_number = source.number();
        let sequence = source.number();
        let timeout_height = source.number();
        let gas = source.number();
        let memo = source.text();
        let fee = (source.byte() % 4 > 0).then(|| source.coin());
        let count = 1 + usize::from(source.byte()) % MAX_TRANSFERS;
        let is_multi_send = source.byte() % 2 == 1;
        let first = source.coin();
        let transfers = (0..count).map(|index| {
            let to = address(Address::repeat_byte(source.byte()));
            // The transfers of one message have one denomination, whose sum is sent.
            let coin = if index == 0 || is_multi_send {
                first.clone()
            } else {
                source.coin()
            };
            (to, coin)
        });
        let transfers = transfers.collect();
        Self {
            account_number,
            sequence,
            timeout_height,
            gas,
            fee,
            memo,
            from,
            transfers,
            is_multi_send,
        }
    }

    /// The coin of all transfers of one message.
    fn total(&self) -> Coin {
        let amounts = self
            .transfers
            .iter()
            .filter_map(|(_, coin)| coin.amount.parse::<u128>().ok());
        let denom = self
            .transfers
            .first()
            .map(|(_, coin)| coin.denom.clone())
            .unwrap_or_default();
        Coin {
            denom,
            amount: amounts.sum::<u128>().to_string(),
        }
    }

    fn messages(&self) -> Vec<Any> {
        if self.is_multi_send {
            let outputs = self.transfers.iter().map(|(to, coin)| AddressCoins {
                address: to.clone(),
                coins: vec![coin.clone()],
            });
            let inputs = vec![AddressCoins {
                address: self.from.clone(),
                coins: vec![self.total()],
            }];
            let value = MsgMultiSend {
                inputs,
                outputs: outputs.collect(),
            }
            .encode_to_vec();
            return vec![Any {
                type_url: "/cosmos.bank.v1beta1.MsgMultiSend".to_owned(),
                value,
            }];
        }
        self.transfers
            .iter()
            .map(|(to, coin)| self.send(to, coin))
            .collect()
    }

    fn send(&self, to: &str, coin: &Coin) -> Any {
        let send = MsgSend {
            from_address: self.from.clone(),
            to_address: to.to_owned(),
            amount: vec![coin.clone()],
        };
        Any {
            type_url: "/cosmos.bank.v1beta1.MsgSend".to_owned(),
            value: send.encode_to_vec(),
        }
    }

    /// The messages in Amino's JSON, with the members of each object in alphabetical order.
    fn amino_messages(&self) -> Vec<String> {
        if self.is_multi_send {
            let outputs: Vec<_> = self
                .transfers
                .iter()
                .map(|(to, coin)| amino_address_coins(to, coin))
                .collect();
            return vec![format!(
                "{{\"type\":\"cosmos-sdk/MsgMultiSend\",\"value\":{{\"inputs\":[{}],\"outputs\":[{}]}}}}",
                amino_address_coins(&self.from, &self.total()),
                outputs.join(",")
            )];
        }
        self.transfers
            .iter()
            .map(|(to, coin)| self.amino_send(to, coin))
            .collect()
    }

    fn amino_send(&self, to: &str, coin: &Coin) -> String {
        format!(
            "{{\"type\":\"cosmos-sdk/MsgSend\",\"value\":{{\"amount\":[{}],\"from_address\":{},\"to_address\":{}}}}}",
            amino_coin(coin),
            quoted(&self.from),
            quoted(to)
        )
    }

    /// Amino's JSON, with the members of each object in alphabetical order.
    fn amino(&self) -> String {
        let timeout = match self.timeout_height {
            0 => String::new(),
            height => format!(",\"timeout_height\":\"{height}\""),
        };
        format!(
            "{{\"account_number\":\"{}\",\"chain_id\":\"{CHAIN_ID}\",\"fee\":{{\"amount\":[{}],\"gas\":\"{}\"}},\
             \"memo\":{},\"msgs\":[{}],\"sequence\":\"{}\"{timeout}}}",
            self.account_number,
            self.fee.as_ref().map(amino_coin).unwrap_or_default(),
            self.gas,
            quoted(&self.memo),
            self.amino_messages().join(","),
            self.sequence,
        )
    }

    fn json(coin: &Coin) -> Value {
        json!({ "denom": coin.denom, "amount": coin.amount })
    }

    /// The members that both forms of typed data have.
    fn typed_message(&self) -> Map<String, Value> {
        let message = json!({
            "account_number": self.account_number.to_string(),
            "chain_id": CHAIN_ID,
            "fee": { "amount": self.fee.iter().map(Self::json).collect::<Vec<_>>(), "gas": self.gas.to_string() },
            "memo": self.memo,
            "sequence": self.sequence.to_string(),
        });
        message.as_object().cloned().unwrap_or_default()
    }

    /// The messages as they are in typed data.
    fn typed_messages(&self) -> Vec<Value> {
        self.amino_messages()
            .iter()
            .map(|text| serde_json::from_str(text).expect("JSON"))
            .collect()
    }

    /// The hash of typed data in the present form of Cosmos EVM.
    fn typed_hash(&self) -> B256 {
        let coin =
            json!([{ "name": "denom", "type": "string" }, { "name": "amount", "type": "string" }]);
        let mut message = self.typed_message();
        let mut tx = fields(&[
            ("account_number", "string"),
            ("chain_id", "string"),
            ("fee", "Fee"),
            ("memo", "string"),
            ("sequence", "string"),
        ]);
        let name = if self.is_multi_send {
            "TypeMsgMultiSend0"
        } else {
            "TypeMsgSend0"
        };
        for (index, one) in self.typed_messages().into_iter().enumerate() {
            tx.push(json!({ "name": format!("msg{index}"), "type": name }));
            message.insert(format!("msg{index}"), one);
        }
        let fee = fields(&[("amount", "Coin[]"), ("gas", "string")]);
        let mut types = json!({ "Coin": coin, "Fee": fee, "Tx": tx });
        types[name] = fields(&[("value", "TypeValue0"), ("type", "string")]).into();
        if self.is_multi_send {
            types["TypeValue0"] = fields(&[
                ("outputs", "TypeValueOutputs0[]"),
                ("inputs", "TypeValueInputs0[]"),
            ])
            .into();
            for part in ["Inputs", "Outputs"] {
                let coins = format!("TypeValue{part}Coins0");
                types[format!("TypeValue{part}0")] =
                    fields(&[("coins", &format!("{coins}[]")), ("address", "string")]).into();
                types[coins] = coin.clone();
            }
        } else {
            let value = [
                ("to_address", "string"),
                ("from_address", "string"),
                ("amount", "TypeValueAmount0[]"),
            ];
            types["TypeValue0"] = fields(&value).into();
            types["TypeValueAmount0"] = coin;
        }
        typed_hash(&types, &message.into())
    }

    /// The hash of typed data in the form of Ethermint.
    fn legacy_typed_hash(&self) -> B256 {
        let coin =
            json!([{ "name": "denom", "type": "string" }, { "name": "amount", "type": "string" }]);
        let mut message = self.typed_message();
        message.insert("msgs".to_owned(), self.typed_messages().into());
        if let Some(fee) = message.get_mut("fee") {
            fee["feePayer"] = json!(self.from);
        }

        let tx = fields(&[
            ("account_number", "string"),
            ("chain_id", "string"),
            ("fee", "Fee"),
            ("memo", "string"),
            ("msgs", "Msg[]"),
            ("sequence", "string"),
        ]);
        let fee = fields(&[
            ("feePayer", "string"),
            ("amount", "Coin[]"),
            ("gas", "string"),
        ]);
        let of_message = fields(&[("type", "string"), ("value", "MsgValue")]);

        let mut types = json!({ "Coin": coin, "Fee": fee, "Msg": of_message, "Tx": tx });
        if self.is_multi_send {
            types["MsgValue"] =
                fields(&[("inputs", "TypeInputs[]"), ("outputs", "TypeOutputs[]")]).into();
            for part in ["Inputs", "Outputs"] {
                let coins = format!("Type{part}Coins");
                types[format!("Type{part}")] =
                    fields(&[("address", "string"), ("coins", &format!("{coins}[]"))]).into();
                types[coins] = coin.clone();
            }
        } else {
            let value = [
                ("from_address", "string"),
                ("to_address", "string"),
                ("amount", "TypeAmount[]"),
            ];
            types["MsgValue"] = fields(&value).into();
            types["TypeAmount"] = coin;
        }

        typed_hash(&types, &message.into())
    }

    /// The signer's statement of the signature, of the sequence and of the fee.
    fn auth_info(&self, mode: SignMode, public_key: &PublicKey) -> AuthInfo {
        let key = PubKey {
            key: public_key.serialize().to_vec(),
        };
        let signer = SignerInfo {
            public_key: Some(Any {
                type_url: "/hyperpaxeer.crypto.v1.ethsecp256k1.PubKey".to_owned(),
                value: key.encode_to_vec(),
            }),
            mode_info: Some(ModeInfo {
                single: Some(SingleMode {
                    mode: if mode == SignMode::Direct { 1 } else { 127 },
                }),
            }),
            sequence: self.sequence,
        };
        let fee = Fee {
            amount: self.fee.iter().cloned().collect(),
            gas_limit: self.gas,
            ..Fee::default()
        };
        AuthInfo {
            signer_infos: vec![signer],
            fee: Some(fee),
        }
    }
}

impl SignedTx {
    /// Makes and signs a transaction. `None` if the mode cannot express it.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (first, rest) = bytes.split_first()?;
        let mode = MODES[usize::from(*first) % MODES.len()];
        let key = SecretKey::from_byte_array([7; 32]).expect("a key");
        let public_key = PublicKey::from_secret_key(SECP256K1, &key);
        let sender =
            Address::from_slice(&keccak256(&public_key.serialize_uncompressed()[1..])[12..]);
        let content = Content::from_bytes(rest, address(sender));
        if content.timeout_height != 0 && !matches!(mode, SignMode::Direct | SignMode::Amino) {
            return None;
        }

        let mut body = TxBody {
            messages: content.messages(),
            memo: content.memo.clone(),
            timeout_height: content.timeout_height,
            ..TxBody::default()
        };
        let auth = content.auth_info(mode, &public_key).encode_to_vec();

        let hash = match mode {
            SignMode::Direct => keccak256(sign_doc(
                &body.encode_to_vec(),
                &auth,
                content.account_number,
            )),
            SignMode::Amino => keccak256(content.amino()),
            SignMode::TypedData => content.typed_hash(),
            SignMode::LegacyTypedData | SignMode::Extension => content.legacy_typed_hash(),
        };
        let signature = SECP256K1
            .sign_ecdsa(Digest::from_digest(hash.0), &key)
            .serialize_compact()
            .to_vec();

        let mut signatures = vec![signature];
        if mode == SignMode::Extension {
            // The extension option has the signature, and an empty one is left in its place.
            let option = ExtensionOptionsWeb3Tx {
                typed_data_chain_id: EVM_CHAIN_ID,
                fee_payer: content.from.clone(),
                fee_payer_sig: std::mem::take(&mut signatures[0]),
            };
            let type_url = "/ethermint.types.v1.ExtensionOptionsWeb3Tx".to_owned();
            body.extension_options = vec![Any {
                type_url,
                value: option.encode_to_vec(),
            }];
        }

        let raw = TxRaw {
            body_bytes: body.encode_to_vec(),
            auth_info_bytes: auth,
            signatures,
        }
        .encode_to_vec();
        Some(Self {
            raw,
            account_number: content.account_number,
        })
    }

    /// The account and the chain for which the signature is valid.
    pub(super) fn signer(&self) -> SignerData<'static> {
        SignerData {
            chain_id: CHAIN_ID,
            evm_chain_id: EVM_CHAIN_ID,
            account_number: self.account_number,
        }
    }
}

fn address(address: Address) -> String {
    let prefix = Hrp::parse("pax").expect("a prefix");
    bech32::encode::<Bech32>(prefix, address.as_slice()).expect("an address")
}

/// The encoding of `SignDoc`, field by field.
fn sign_doc(body: &[u8], auth: &[u8], account_number: u64) -> Vec<u8> {
    fn number(out: &mut Vec<u8>, mut number: u64) {
        while number >= 0x80 {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
    }

    let mut out = Vec::new();
    for (tag, content) in [(0x0a, body), (0x12, auth), (0x1a, CHAIN_ID.as_bytes())] {
        if !content.is_empty() {
            out.push(tag);
            number(&mut out, content.len() as u64);
            out.extend_from_slice(content);
        }
    }
    if account_number > 0 {
        out.push(0x20);
        number(&mut out, account_number);
    }
    out
}

fn amino_address_coins(address: &str, coin: &Coin) -> String {
    format!(
        "{{\"address\":{},\"coins\":[{}]}}",
        quoted(address),
        amino_coin(coin)
    )
}

fn amino_coin(coin: &Coin) -> String {
    format!(
        "{{\"amount\":{},\"denom\":{}}}",
        quoted(&coin.amount),
        quoted(&coin.denom)
    )
}

/// A text in JSON as Go writes it.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

fn fields(list: &[(&str, &str)]) -> Vec<Value> {
    list.iter()
        .map(|(name, kind)| json!({ "name": name, "type": kind }))
        .collect()
}

/// Hashes typed data with the domain of Cosmos chains, whose contract and salt are texts: it is
/// hashed as a message.
fn typed_hash(types: &Value, message: &Value) -> B256 {
    let mut types = types.clone();
    types["EIP712Domain"] = fields(&[
        ("name", "string"),
        ("version", "string"),
        ("chainId", "uint256"),
        ("verifyingContract", "string"),
        ("salt", "string"),
    ])
    .into();
    let domain = json!({
        "name": "Cosmos Web3",
        "version": "1.0.0",
        "chainId": EVM_CHAIN_ID,
        "verifyingContract": "cosmos",
        "salt": "0",
    });
    let domain = struct_hash(&types, "EIP712Domain", &domain);
    let message = struct_hash(&types, "Tx", message);
    keccak256(
        [
            b"\x19\x01".as_slice(),
            domain.as_slice(),
            message.as_slice(),
        ]
        .concat(),
    )
}

fn struct_hash(types: &Value, kind: &str, value: &Value) -> B256 {
    let data = json!({ "types": types, "primaryType": kind, "domain": {}, "message": value });
    let data: TypedData = serde_json::from_value(data).expect("typed data");
    data.hash_struct().expect("typed data has a hash")
}
