//! Results and events of transactions, as the SDK's modules emit them.

use alloy_primitives::{Address, U256, hex};
use base64ct::{Base64, Encoding};
use bech32::{Bech32, Hrp};
use prost::Message;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tetrad_primitives::block::{
    Block, Transaction,
    cosmos::{BankMessage, CosmosNetwork, CosmosTransaction, proto::Any},
};

/// The code of a transfer that the balance did not cover: "insufficient funds" of the SDK.
const INSUFFICIENT_FUNDS: u32 = 5;
/// The code of a failed Ethereum transaction: "execution reverted" of Cosmos EVM's module.
const EVM_FAILED: u32 = 4;

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TxEvent {
    pub(super) kind: &'static str,
    pub(super) attributes: Vec<(&'static str, String)>,
}

/// The result of a transaction in a block.
#[derive(Clone, Debug)]
pub(super) struct TxResult {
    pub(super) code: u32,
    pub(super) codespace: &'static str,
    pub(super) log: String,
    /// The encoded `TxMsgData`.
    pub(super) data: Vec<u8>,
    pub(super) gas_wanted: u64,
    pub(super) gas_used: u64,
    pub(super) events: Vec<TxEvent>,
}

/// `cosmos.base.abci.v1beta1.TxMsgData`.
#[derive(Clone, PartialEq, Message)]
struct TxMsgData {
    #[prost(message, repeated, tag = "2")]
    msg_responses: Vec<Any>,
}

impl TxResult {
    /// The result of the transaction at `index`.
    pub(super) fn of(block: &Block, index: usize, network: &CosmosNetwork) -> Option<Self> {
        let transaction = block.transactions.get(index)?;
        let receipt = block.receipts.get(index)?;
        let succeeded = receipt.succeeded();
        Some(match transaction.cosmos() {
            Some(tx) => Self::bank(&tx, succeeded, network),
            None => Self::ethereum(transaction, index, receipt.gas_used, succeeded, network),
        })
    }

    fn bank(tx: &CosmosTransaction, succeeded: bool, network: &CosmosNetwork) -> Self {
        let writer = EventWriter {
            network,
            sender: address(tx.sender, network),
            events: Vec::new(),
        };
        let events = writer.ante(tx);
        let gas_wanted = tx.gas_limit;
        let gas_used = tx.gas_needed();

        // A failed transaction always lacks funds: refusals for any other reason come before the
        // block.
        if !succeeded {
            let total = tx.transfers.iter().fold(U256::ZERO, |sum, transfer| {
                sum.saturating_add(transfer.amount)
            });
            let log = format!(
                "failed to execute message: spendable balance is smaller than {total}{}: insufficient funds",
                network.denom
            );
            return Self {
                code: INSUFFICIENT_FUNDS,
                codespace: "sdk",
                log,
                data: Vec::new(),
                gas_wanted,
                gas_used,
                events: events.events,
            };
        }

        Self {
            code: 0,
            codespace: "",
            log: String::new(),
            data: TxMsgData {
                msg_responses: tx.messages.iter().map(empty_response).collect(),
            }
            .encode_to_vec(),
            gas_wanted,
            gas_used,
            events: events.messages(tx).events,
        }
    }

    fn ethereum(
        transaction: &Transaction,
        index: usize,
        gas_used: u64,
        succeeded: bool,
        network: &CosmosNetwork,
    ) -> Self {
        use alloy_consensus::Transaction as _;
        let tx = &transaction.envelope;
        let sender = address(transaction.sender, network);

        // The attributes of Cosmos EVM's event, by which clients search.
        let mut attributes = vec![
            ("amount", tx.value().to_string()),
            ("ethereumTxHash", transaction.hash().to_string()),
            ("txIndex", index.to_string()),
            ("txGasUsed", gas_used.to_string()),
        ];
        if let Some(to) = tx.to() {
            attributes.push(("recipient", to.to_string()));
        }
        if !succeeded {
            attributes.push(("ethereumTxFailed", "execution reverted".to_owned()));
        }

        let action = ("action", "/cosmos.evm.vm.v1.MsgEthereumTx".to_owned());
        let message = vec![
            action,
            ("sender", sender),
            ("module", "evm".to_owned()),
            ("msg_index", "0".to_owned()),
        ];
        attributes.push(("msg_index", "0".to_owned()));

        let (code, codespace, log) = if succeeded {
            (0, "", String::new())
        } else {
            (EVM_FAILED, "evm", "execution reverted".to_owned())
        };
        Self {
            code,
            codespace,
            log,
            data: Vec::new(),
            gas_wanted: tx.gas_limit(),
            gas_used,
            events: vec![
                TxEvent {
                    kind: "message",
                    attributes: message,
                },
                TxEvent {
                    kind: "ethereum_tx",
                    attributes,
                },
            ],
        }
    }

    /// The result in CometBFT's form.
    pub(super) fn comet(&self) -> Value {
        json!({
            "code": self.code,
            "data": Some(Base64::encode_string(&self.data)).filter(|data| !data.is_empty()),
            "log": self.log,
            "info": "",
            "gas_wanted": self.gas_wanted.to_string(),
            "gas_used": self.gas_used.to_string(),
            "events": self.events.iter().map(TxEvent::json).collect::<Vec<_>>(),
            "codespace": self.codespace,
        })
    }
}

fn empty_response(message: &BankMessage) -> Any {
    Any {
        type_url: format!("{}Response", message.type_url()),
        value: Vec::new(),
    }
}

impl TxEvent {
    /// The event in CometBFT's form, which the gateway shares.
    pub(super) fn json(&self) -> Value {
        let attributes = self.attributes.iter();
        let attributes =
            attributes.map(|(key, value)| json!({ "key": key, "value": value, "index": true }));
        json!({ "type": self.kind, "attributes": attributes.collect::<Vec<_>>() })
    }
}

/// The events of a transaction so far.
struct EventWriter<'a> {
    network: &'a CosmosNetwork,
    sender: String,
    events: Vec<TxEvent>,
}

impl EventWriter<'_> {
    fn push(
        &mut self,
        kind: &'static str,
        attributes: &[(&'static str, &str)],
        message: Option<usize>,
    ) {
        let mut attributes: Vec<_> = attributes
            .iter()
            .map(|(key, value)| (*key, (*value).to_owned()))
            .collect();
        attributes.extend(message.map(|message| ("msg_index", message.to_string())));
        self.events.push(TxEvent { kind, attributes });
    }

    fn coin(&self, amount: U256) -> String {
        format!("{amount}{}", self.network.denom)
    }

    /// The events of the checks before the messages: the fee, the sequence and the signature.
    fn ante(mut self, tx: &CosmosTransaction) -> Self {
        let sender = self.sender.clone();
        // The text of an empty list of coins.
        let fee = if tx.fee.is_zero() {
            String::new()
        } else {
            self.coin(tx.fee)
        };
        if !tx.fee.is_zero() {
            let collector = address(fee_collector(), self.network);
            self.push(
                "coin_spent",
                &[("spender", &sender), ("amount", &fee)],
                None,
            );
            self.push(
                "coin_received",
                &[("receiver", &collector), ("amount", &fee)],
                None,
            );
            self.push(
                "transfer",
                &[
                    ("recipient", &collector),
                    ("sender", &sender),
                    ("amount", &fee),
                ],
                None,
            );
            self.push("message", &[("sender", &sender)], None);
        }
        self.push("tx", &[("fee", &fee), ("fee_payer", &sender)], None);
        self.push(
            "tx",
            &[("acc_seq", &format!("{sender}/{}", tx.sequence))],
            None,
        );

        for signature in tx.signatures() {
            self.push(
                "tx",
                &[("signature", &Base64::encode_string(signature))],
                None,
            );
        }
        self
    }

    fn messages(mut self, tx: &CosmosTransaction) -> Self {
        let sender = self.sender.clone();
        let mut transfers = tx.transfers.iter();
        for (index, message) in tx.messages.iter().enumerate() {
            let at = Some(index);
            self.push(
                "message",
                &[
                    ("action", message.type_url()),
                    ("sender", &sender),
                    ("module", "bank"),
                ],
                at,
            );

            // The transfers of all messages are in one list.
            let own: Vec<_> = transfers.by_ref().take(message.targets().count()).collect();
            let total = own.iter().fold(U256::ZERO, |sum, transfer| {
                sum.saturating_add(transfer.amount)
            });
            self.push(
                "coin_spent",
                &[("spender", &sender), ("amount", &self.coin(total))],
                at,
            );
            for transfer in own {
                let recipient = address(transfer.to, self.network);
                let amount = self.coin(transfer.amount);
                self.push(
                    "coin_received",
                    &[("receiver", &recipient), ("amount", &amount)],
                    at,
                );
                self.push(
                    "transfer",
                    &[
                        ("recipient", &recipient),
                        ("sender", &sender),
                        ("amount", &amount),
                    ],
                    at,
                );
            }
            self.push("message", &[("sender", &sender)], at);
        }
        self
    }
}

/// The account that receives the fees of Cosmos transactions, as events name it. Its balance does
/// not change.
pub(super) fn fee_collector() -> Address {
    module_account("fee_collector")
}

/// The account of a module of the SDK.
fn module_account(name: &str) -> Address {
    Address::from_slice(&Sha256::digest(name.as_bytes())[..20])
}

/// An address with the network's prefix.
fn address(address: Address, network: &CosmosNetwork) -> String {
    // The prefix was checked when the configuration was read.
    let text = Hrp::parse(&network.prefix)
        .ok()
        .and_then(|hrp| bech32::encode::<Bech32>(hrp, address.as_slice()).ok());
    text.unwrap_or_else(|| hex::encode(address))
}
