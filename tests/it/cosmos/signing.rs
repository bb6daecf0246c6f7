//! Cosmos transactions, signed in every way that wallets use.

use alloy::signers::{SignerSync, local::PrivateKeySigner};
use alloy_primitives::{Address, B256, hex, keccak256};
use base64ct::{Base64, Encoding};
use prost::Message;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tetrad::account::{Hrp, Kind, address_to_bech32};
use tetrad_primitives::block::{
    Submission, Transaction,
    cosmos::{
        CosmosTransaction, DecodedTx, SignerData,
        proto::{
            AddressCoins, Any, AuthInfo, Coin, ExtensionOptionsWeb3Tx, Fee, ModeInfo, MsgMultiSend,
            MsgSend, PubKey, SignDoc, SignerInfo, SingleMode, TxBody, TxRaw,
        },
    },
};

use crate::support::TestNode;

pub(crate) const CHAIN_ID: &str = "hyperpax_125-1";
pub(crate) const GAS: u64 = 200_000;
pub(crate) const PRICE: u128 = 10_000_000_000;

/// How a transaction is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Direct,
    Amino,
    /// Typed data in the present form.
    Eip712,
    /// Typed data in Keplr's form, as the signature itself.
    LegacyEip712,
    /// Typed data in Keplr's form, in an extension option.
    Web3,
}

pub(crate) const MODES: [Mode; 5] = [
    Mode::Direct,
    Mode::Amino,
    Mode::Eip712,
    Mode::LegacyEip712,
    Mode::Web3,
];

/// A transaction before it is signed, which tests can change.
#[derive(Clone)]
pub(crate) struct Unsigned {
    pub key: PrivateKeySigner,
    pub account_number: u64,
    pub sequence: u64,
    pub chain_id: String,
    pub messages: Vec<Any>,
    pub memo: String,
    pub timeout_height: u64,
    pub fee: Fee,
    pub key_type: String,
    pub non_critical_extension_options: Vec<Any>,
    /// Fields that follow the body's own in its encoding.
    pub more_body: Vec<u8>,
    /// Fields that follow the signer's and the fee's.
    pub more_auth: Vec<u8>,
}

pub(crate) fn bech32(address: Address) -> String {
    address_to_bech32(&address, &Hrp::default(), Kind::Account)
}

pub(crate) fn coins(amount: u128) -> Vec<Coin> {
    vec![Coin {
        denom: "ahpx".to_owned(),
        amount: amount.to_string(),
    }]
}

pub(crate) fn send(from: Address, to: Address, amount: u128) -> Any {
    let message = MsgSend {
        from_address: bech32(from),
        to_address: bech32(to),
        amount: coins(amount),
    };
    Any {
        type_url: "/cosmos.bank.v1beta1.MsgSend".to_owned(),
        value: message.encode_to_vec(),
    }
}

fn address_coins(address: Address, amount: u128) -> AddressCoins {
    AddressCoins {
        address: bech32(address),
        coins: coins(amount),
    }
}

pub(crate) fn multi_send(from: Address, outputs: &[(Address, u128)]) -> Any {
    let total = outputs.iter().map(|(_, amount)| amount).sum();
    let outputs = outputs
        .iter()
        .map(|(to, amount)| address_coins(*to, *amount))
        .collect();

    let message = MsgMultiSend {
        inputs: vec![address_coins(from, total)],
        outputs,
    };

    Any {
        type_url: "/cosmos.bank.v1beta1.MsgMultiSend".to_owned(),
        value: message.encode_to_vec(),
    }
}

impl Unsigned {
    pub(crate) fn new(
        key: PrivateKeySigner,
        account_number: u64,
        sequence: u64,
        messages: Vec<Any>,
    ) -> Self {
        Self {
            key,
            account_number,
            sequence,
            chain_id: CHAIN_ID.to_owned(),
            messages,
            memo: String::new(),
            timeout_height: 0,
            fee: Fee {
                amount: coins(u128::from(GAS) * PRICE),
                gas_limit: GAS,
                ..Fee::default()
            },
            key_type: "/hyperpaxeer.crypto.v1.ethsecp256k1.PubKey".to_owned(),
            non_critical_extension_options: Vec::new(),
            more_body: Vec::new(),
            more_auth: Vec::new(),
        }
    }

    fn parts(&self, mode: Mode, extension_options: Vec<Any>) -> TxRaw {
        let key = self
            .key
            .credential()
            .verifying_key()
            .to_encoded_point(true)
            .as_bytes()
            .to_vec();

        let public_key = Some(Any {
            type_url: self.key_type.clone(),
            value: PubKey { key }.encode_to_vec(),
        });

        let mode = if mode == Mode::Direct { 1 } else { 127 };
        let mode_info = Some(ModeInfo {
            single: Some(SingleMode { mode }),
        });
        let signer = SignerInfo {
            public_key,
            mode_info,
            sequence: self.sequence,
        };

        let body = TxBody {
            messages: self.messages.clone(),
            memo: self.memo.clone(),
            timeout_height: self.timeout_height,
            extension_options,
            non_critical_extension_options: self.non_critical_extension_options.clone(),
        };
        let auth = AuthInfo {
            signer_infos: vec![signer],
            fee: Some(self.fee.clone()),
        };

        TxRaw {
            body_bytes: [body.encode_to_vec(), self.more_body.clone()].concat(),
            auth_info_bytes: [auth.encode_to_vec(), self.more_auth.clone()].concat(),
            signatures: vec![Vec::new()],
        }
    }

    /// A signature of 65 bytes, with the recovery id that wallets give typed data: 27 or 28.
    fn signature(&self, hash: B256) -> Vec<u8> {
        self.key.sign_hash_sync(&hash).unwrap().as_bytes().to_vec()
    }

    /// The signed transaction. The signature has 64 bytes, or 65 in an extension option.
    pub(crate) fn sign(&self, mode: Mode) -> Vec<u8> {
        self.sign_with(mode, |signature| {
            if mode != Mode::Web3 {
                signature.truncate(64);
            }
        })
    }

    /// The signed transaction, after a change to its signature of 65 bytes.
    pub(crate) fn sign_with(&self, mode: Mode, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let signer = SignerData {
            chain_id: &self.chain_id,
            evm_chain_id: 125,
            account_number: self.account_number,
        };

        let mut parts = self.parts(mode, Vec::new());
        let mut signature = match mode {
            Mode::Direct => self.signature(keccak256(
                SignDoc {
                    body_bytes: parts.body_bytes.clone(),
                    auth_info_bytes: parts.auth_info_bytes.clone(),
                    chain_id: self.chain_id.clone(),
                    account_number: self.account_number,
                }
                .encode_to_vec(),
            )),
            Mode::Amino => self.signature(keccak256(self.amino().to_string())),
            Mode::Eip712 => self.signature(decoded(&parts).eip712_hash(&signer).unwrap()),
            Mode::LegacyEip712 | Mode::Web3 => {
                let payer = bech32(self.key.address());
                self.signature(decoded(&parts).legacy_eip712_hash(&payer, &signer).unwrap())
            }
        };

        change(&mut signature);

        if mode == Mode::Web3 {
            let option = ExtensionOptionsWeb3Tx {
                typed_data_chain_id: 125,
                fee_payer: bech32(self.key.address()),
                fee_payer_sig: signature,
            };
            let type_url = "/ethermint.types.v1.ExtensionOptionsWeb3Tx".to_owned();
            parts = self.parts(
                mode,
                vec![Any {
                    type_url,
                    value: option.encode_to_vec(),
                }],
            );
        } else {
            parts.signatures = vec![signature];
        }

        parts.encode_to_vec()
    }

    /// The transaction without a signature, as for a simulation.
    pub(crate) fn unsigned(&self) -> Vec<u8> {
        self.parts(Mode::Direct, Vec::new()).encode_to_vec()
    }

    /// An independent implementation of the sign document. Its keys are sorted, which the test of
    /// vectors confirms.
    fn amino(&self) -> Value {
        json!({
            "account_number": self.account_number.to_string(),
            "chain_id": self.chain_id,
            "fee": { "amount": amino_coins(&self.fee.amount), "gas": self.fee.gas_limit.to_string() },
            "memo": self.memo,
            "msgs": self.messages.iter().map(amino_message).collect::<Vec<_>>(),
            "sequence": self.sequence.to_string(),
        })
    }
}

/// A message in the sign document.
fn amino_message(message: &Any) -> Value {
    match message.type_url.rsplit('.').next().unwrap() {
        "MsgSend" => {
            let send = MsgSend::decode(message.value.as_slice()).unwrap();
            json!({ "type": "cosmos-sdk/MsgSend", "value": {
                "amount": amino_coins(&send.amount),
                "from_address": send.from_address,
                "to_address": send.to_address,
            }})
        }
        _ => {
            let send = MsgMultiSend::decode(message.value.as_slice()).unwrap();
            json!({ "type": "cosmos-sdk/MsgMultiSend", "value": {
                "inputs": amino_shares(&send.inputs),
                "outputs": amino_shares(&send.outputs),
            }})
        }
    }
}

fn amino_shares(shares: &[AddressCoins]) -> Value {
    shares
        .iter()
        .map(|share| json!({ "address": share.address, "coins": amino_coins(&share.coins) }))
        .collect()
}

fn amino_coins(coins: &[Coin]) -> Value {
    coins
        .iter()
        .map(|coin| json!({ "amount": coin.amount, "denom": coin.denom }))
        .collect()
}

fn decoded(parts: &TxRaw) -> Box<CosmosTransaction> {
    match DecodedTx::decode(&parts.encode_to_vec()).unwrap() {
        DecodedTx::Bank(tx) => tx,
        DecodedTx::Ethereum(_) => panic!("an Ethereum transaction"),
    }
}

impl TestNode {
    /// A transaction of the n-th development account with its next sequence.
    pub(crate) async fn unsigned(&self, index: usize, messages: Vec<Any>) -> Unsigned {
        let key = self.signer(index);
        let path = format!("/cosmos/auth/v1beta1/accounts/{}", bech32(key.address()));
        let account = self.get_json(&path).await["account"]["base_account"].clone();
        let number = |name: &str| account[name].as_str().unwrap().parse().unwrap();
        Unsigned::new(key, number("account_number"), number("sequence"), messages)
    }

    /// `POST` of a JSON body: status and body of the answer.
    pub(crate) async fn post_json(&self, path: &str, body: Value) -> (u16, Value) {
        let request = self
            .http
            .post(format!("{}{path}", self.rest_url()))
            .json(&body);
        let response = request.send().await.expect("an answer");
        (
            response.status().as_u16(),
            response.json().await.expect("JSON"),
        )
    }

    /// Sends a transaction through the gateway. Returns `tx_response`.
    pub(crate) async fn broadcast(&self, raw: &[u8]) -> Value {
        let body = json!({ "tx_bytes": Base64::encode_string(raw), "mode": "BROADCAST_MODE_SYNC" });
        let (status, body) = self.post_json("/cosmos/tx/v1beta1/txs", body).await;
        assert_eq!(status, 200, "{body}");
        body["tx_response"].clone()
    }

    /// Includes a transaction in the next block without the checks for clients: a block of an
    /// earlier version or of another node may contain it.
    pub(crate) async fn include(&self, raw: &[u8]) {
        let tx = match DecodedTx::decode(raw).unwrap() {
            DecodedTx::Bank(tx) => tx,
            DecodedTx::Ethereum(_) => panic!("an Ethereum transaction"),
        };
        let submission = Submission {
            transaction: Transaction::from_cosmos(&tx).unwrap(),
            sidecar: None,
        };
        let chain = self.chain();
        drop(chain.pool().insert(submission, || chain.head(), 0).unwrap());
        self.mine().await;
    }

    /// The result of `check_tx` for a transaction.
    pub(crate) async fn check(&self, raw: &[u8]) -> Value {
        self.comet("check_tx", json!({ "tx": Base64::encode_string(raw) }))
            .await["result"]
            .clone()
    }

    /// The result of a method of CometBFT.
    pub(crate) async fn comet(&self, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.post_json("/", body).await.1
    }
}

/// The hash by which Cosmos clients know a transaction.
pub(crate) fn cosmos_hash(raw: &[u8]) -> String {
    hex::encode_upper(Sha256::digest(raw))
}
