//! The Amino sign document as EIP-712 typed data, in the two forms that wallets sign.
//!
//! The domain is not Ethereum's: `verifyingContract` and `salt` are strings, which is why the typed
//! data of other crates cannot be used.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::{B256, U256, keccak256};
use serde_json::{Value, json};

use super::{BankMessage, CosmosTransaction};

/// The fields of each type, in order: name and type.
type Types = BTreeMap<String, Vec<(String, String)>>;

fn fields(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter()
        .map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned()))
        .collect()
}

/// The types that all forms share.
fn common_types() -> Types {
    [
        (
            "EIP712Domain",
            fields(&[
                ("name", "string"),
                ("version", "string"),
                ("chainId", "uint256"),
                ("verifyingContract", "string"),
                ("salt", "string"),
            ]),
        ),
        ("Coin", fields(&[("denom", "string"), ("amount", "string")])),
    ]
    .into_iter()
    .map(|(name, fields)| (name.to_owned(), fields))
    .collect()
}

/// The hash that is signed in the present form of Cosmos EVM: each message is a member `msg<n>` of
/// the transaction, with a type that follows from its JSON. `None` if the transaction has a part
/// that the form cannot express.
pub(super) fn signing_hash(doc: &Value, evm_chain_id: u64) -> Option<B256> {
    let mut types = common_types();
    types.insert(
        "Fee".to_owned(),
        fields(&[("amount", "Coin[]"), ("gas", "string")]),
    );
    let mut tx_fields = fields(&[
        ("account_number", "string"),
        ("chain_id", "string"),
        ("fee", "Fee"),
        ("memo", "string"),
        ("sequence", "string"),
    ]);

    let mut members: BTreeMap<String, &Value> = BTreeMap::new();
    for (name, value) in doc.as_object()? {
        if name != "msgs" {
            members.insert(name.clone(), value);
        }
    }
    // EIP-712 has no arrays of several types, so each message is a member of its own.
    for (index, one) in doc["msgs"].as_array()?.iter().enumerate() {
        let name = one["type"].as_str()?.rsplit('/').next()?;
        let kind = add_type(&mut types, &format!("Type{name}"), None, one)?;
        tx_fields.push((format!("msg{index}"), kind));
        members.insert(format!("msg{index}"), one);
    }

    types.insert("Tx".to_owned(), tx_fields);
    TypedData::new(types)?.signing_hash(&members, evm_chain_id)
}

/// The hash that is signed in the form of Ethermint, which Keplr uses: a list of messages of the
/// same type, and the payer of the fee. `None` if the transaction has a part that the form cannot
/// express.
pub(super) fn legacy_signing_hash(
    tx: &CosmosTransaction,
    doc: &Value,
    fee_payer: &str,
    evm_chain_id: u64,
) -> Option<B256> {
    let (first, others) = tx.messages.split_first()?;
    // This form has one type for all messages.
    let is_same_type =
        |other: &BankMessage| std::mem::discriminant(other) == std::mem::discriminant(first);
    if !others.iter().all(is_same_type) {
        return None;
    }

    let mut fee = doc["fee"].clone();
    fee.as_object_mut()?
        .insert("feePayer".to_owned(), fee_payer.into());
    let mut members: BTreeMap<String, &Value> = BTreeMap::new();
    for (name, value) in doc.as_object()? {
        members.insert(name.clone(), if name == "fee" { &fee } else { value });
    }

    TypedData::new(legacy_types(first))?.signing_hash(&members, evm_chain_id)
}

/// The types of the form of Ethermint, for messages like this one.
fn legacy_types(message: &BankMessage) -> Types {
    let of_transaction: [(&str, &[(&str, &str)]); 3] = [
        (
            "Tx",
            &[
                ("account_number", "string"),
                ("chain_id", "string"),
                ("fee", "Fee"),
                ("memo", "string"),
                ("msgs", "Msg[]"),
                ("sequence", "string"),
            ],
        ),
        (
            "Fee",
            &[
                ("feePayer", "string"),
                ("amount", "Coin[]"),
                ("gas", "string"),
            ],
        ),
        ("Msg", &[("type", "string"), ("value", "MsgValue")]),
    ];
    let coin: &[(&str, &str)] = &[("denom", "string"), ("amount", "string")];
    // Ethermint names a type by the path to its member.
    let of_message: &[(&str, &[(&str, &str)])] = match message {
        BankMessage::Send(_) => &[
            (
                "MsgValue",
                &[
                    ("from_address", "string"),
                    ("to_address", "string"),
                    ("amount", "TypeAmount[]"),
                ],
            ),
            ("TypeAmount", coin),
        ],
        BankMessage::MultiSend(_) => &[
            (
                "MsgValue",
                &[("inputs", "TypeInputs[]"), ("outputs", "TypeOutputs[]")],
            ),
            (
                "TypeInputs",
                &[("address", "string"), ("coins", "TypeInputsCoins[]")],
            ),
            ("TypeInputsCoins", coin),
            (
                "TypeOutputs",
                &[("address", "string"), ("coins", "TypeOutputsCoins[]")],
            ),
            ("TypeOutputsCoins", coin),
        ],
    };

    let mut types = common_types();
    for (name, list) in of_transaction.iter().chain(of_message) {
        types.insert((*name).to_owned(), fields(list));
    }
    types
}

/// Adds the type of a JSON object, and those of the objects in it, and returns its name. `path` is
/// the type's name without its number, unless it is the message itself. The fields are in
/// descending order. Types of the same name with other fields get other numbers.
fn add_type(types: &mut Types, root: &str, path: Option<&str>, object: &Value) -> Option<String> {
    let object = object.as_object()?;
    let names: BTreeSet<&String> = object.keys().collect();
    let mut list = Vec::with_capacity(names.len());
    for name in names.into_iter().rev() {
        let (value, suffix) = match &object[name] {
            Value::Array(items) => match items.first() {
                Some(first) => (first, "[]"),
                None => {
                    list.push((name.clone(), "string[]".to_owned()));
                    continue;
                }
            },
            value => (value, ""),
        };

        let kind = match value {
            Value::String(_) => "string".to_owned(),
            Value::Object(_) => {
                let path = format!("{}{}", path.unwrap_or("Type"), capitalised(name));
                add_type(types, root, Some(&path), value)?
            }
            // Messages of the bank have no other values.
            _ => return None,
        };

        list.push((name.clone(), kind + suffix));
    }

    let name = path.unwrap_or(root);
    let numbered = (0..).map(|number| format!("{name}{number}"));
    let free = numbered
        .into_iter()
        .find(|name| types.get(name).is_none_or(|existing| *existing == list))?;
    types.insert(free.clone(), list);
    Some(free)
}

/// `foo_bar` as `FooBar`.
fn capitalised(name: &str) -> String {
    name.split('_').map(capitalised_word).collect()
}

fn capitalised_word(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
        .unwrap_or_default()
}

/// Types with their hashes (`typeHash` of EIP-712). These are computed once, however many values
/// there are of a type.
struct TypedData {
    types: Types,
    hashes: BTreeMap<String, B256>,
}

impl TypedData {
    fn new(types: Types) -> Option<Self> {
        let hashes = types
            .keys()
            .map(|name| Some((name.clone(), keccak256(encode_type(&types, name)?))));
        let hashes = hashes.collect::<Option<_>>()?;
        Some(Self { types, hashes })
    }

    /// The hash that is signed, of a message of the primary type `Tx` with these members.
    fn signing_hash(&self, members: &BTreeMap<String, &Value>, evm_chain_id: u64) -> Option<B256> {
        // Ethermint has texts where EIP-712 has an address and 32 bytes.
        let domain = json!({
            "name": "Cosmos Web3",
            "version": "1.0.0",
            "chainId": evm_chain_id,
            "verifyingContract": "cosmos",
            "salt": "0",
        });
        let domain = self.encode_value("EIP712Domain", &domain)?;
        let message = self.hash_struct("Tx", members.len(), |name| members.get(name).copied())?;

        Some(keccak256(
            [
                b"\x19\x01".as_slice(),
                domain.as_slice(),
                message.as_slice(),
            ]
            .concat(),
        ))
    }

    /// `hashStruct` of EIP-712. `None` if the value has not exactly the fields of its type.
    fn hash_struct<'a>(
        &self,
        name: &str,
        count: usize,
        member: impl Fn(&str) -> Option<&'a Value>,
    ) -> Option<B256> {
        let list = self.types.get(name)?;
        if list.len() != count {
            return None;
        }

        let mut encoded = self.hashes.get(name)?.to_vec();
        for (field, kind) in list {
            encoded.extend_from_slice(self.encode_value(kind, member(field)?)?.as_slice());
        }
        Some(keccak256(encoded))
    }

    fn encode_value(&self, kind: &str, value: &Value) -> Option<B256> {
        if let Some(item) = kind.strip_suffix("[]") {
            let items = value
                .as_array()?
                .iter()
                .map(|value| self.encode_value(item, value));
            return Some(keccak256(items.collect::<Option<Vec<B256>>>()?.concat()));
        }

        match kind {
            "string" => Some(keccak256(value.as_str()?)),
            "uint256" => Some(U256::from(value.as_u64()?).into()),
            name => {
                let object = value.as_object()?;
                self.hash_struct(name, object.len(), |field| object.get(field))
            }
        }
    }
}

/// `encodeType` of EIP-712: the type, then those that it refers to in alphabetical order.
fn encode_type(types: &Types, name: &str) -> Option<String> {
    let mut found = BTreeSet::new();
    let mut next = vec![name];
    while let Some(name) = next.pop() {
        if let Some(list) = types.get(name)
            && found.insert(name)
        {
            next.extend(
                list.iter()
                    .map(|(_, kind)| kind.strip_suffix("[]").unwrap_or(kind)),
            );
        }
    }
    // The type itself comes first, wherever it is in the alphabet.
    found.remove(name);

    let mut text = String::new();
    for name in std::iter::once(name).chain(found) {
        let list = types
            .get(name)?
            .iter()
            .map(|(field, kind)| format!("{kind} {field}"))
            .collect::<Vec<_>>();
        text.push_str(&format!("{name}({})", list.join(",")));
    }
    Some(text)
}
