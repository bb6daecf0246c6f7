//! Messages are decoded as they were encoded, and any other bytes are refused.

use std::{io, sync::Arc, time::Duration};

use alloy_eips::{
    eip4844::builder::{SidecarBuilder, SimpleCoder},
    eip7594::BlobTransactionSidecarVariant,
};
use alloy_primitives::{Address, B256, U256, address, b256};
use proptest::prelude::*;
use tetrad_chain::{
    Dump, DumpError, Edit, Genesis, GenesisAccount, HistoryLimits, MAX_MINED_BLOCKS, Mining, Pace,
    Pruned, Setting, Stopped, UnsignedTransaction, sign_transaction,
};
use tetrad_evm::{BlockError, ChainParams, Fork, Forks};
use tetrad_network::account::SecretKey;
use tetrad_primitives::{
    block::{CompressedKey, DecodeError, GasPrice, InvalidBlobs, TransactionFields},
    state::ReadError,
};
use tetrad_store::log::AppendError;

use super::*;

const ADDRESS: Address = address!("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed");
const HASH: B256 = b256!("0xd7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592");

/// Values for the fields of messages.
#[derive(Clone, Debug)]
struct Values {
    number: u64,
    wei: u128,
    wide: U256,
    option: Option<u64>,
    text: String,
    bytes: Vec<u8>,
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), any::<u64>()]
}

fn values() -> impl Strategy<Value = Values> {
    (
        number(),
        any::<u128>(),
        any::<[u64; 4]>(),
        prop::option::of(number()),
        any::<String>(),
        prop::collection::vec(any::<u8>(), 0..300),
    )
        .prop_map(|(number, wei, wide, option, text, bytes)| Values {
            number,
            wei,
            wide: U256::from_limbs(wide),
            option,
            text,
            bytes,
        })
}

fn key() -> SecretKey {
    SecretKey::from_bytes(&[7; 32]).unwrap()
}

fn fields(values: &Values, gas_price: GasPrice) -> TransactionFields {
    TransactionFields {
        value: values.wide,
        ..TransactionFields::call(
            125,
            values.number,
            21_000,
            gas_price,
            ADDRESS,
            values.bytes.clone().into(),
        )
    }
}

fn transactions(values: &Values) -> [Transaction; 3] {
    let dynamic = GasPrice::Dynamic {
        max_fee: values.wei,
        max_tip: 1,
    };
    [
        sign_transaction(&key(), fields(values, GasPrice::Fixed(values.wei)).into()).unwrap(),
        sign_transaction(&key(), fields(values, dynamic).into()).unwrap(),
        Transaction::impersonated(fields(values, dynamic).into(), ADDRESS),
    ]
}

/// All kinds of changes that have an encoding.
fn changes(values: &Values) -> Vec<Change> {
    let Values {
        number,
        wei,
        wide,
        option,
        bytes,
        ..
    } = values.clone();
    let account = GenesisAccount {
        address: ADDRESS,
        balance: wide,
        nonce: number,
        code: bytes.clone().into(),
        storage: vec![(wide, U256::ZERO), (U256::MAX, wide)],
    };
    let [first, second, third] = transactions(values);
    let edits = vec![
        Edit::Balance(ADDRESS, wide),
        Edit::Credit(ADDRESS, wide),
        Edit::Nonce(ADDRESS, number),
        Edit::Code(ADDRESS, bytes.into()),
        Edit::Storage(ADDRESS, wide, U256::MAX),
        Edit::Accounts(vec![account, GenesisAccount::default()]),
        Edit::ChainId(number),
        Edit::Signature([7; 65].into(), ADDRESS),
    ];
    let count = number % (MAX_MINED_BLOCKS + 1);
    vec![
        Change::Mine {
            count,
            pace: Pace {
                first: option,
                interval: Some(number),
                at_least: number,
            },
        },
        Change::Mine {
            count: MAX_MINED_BLOCKS,
            pace: Pace::default(),
        },
        Change::Edit(edits),
        Change::Edit(Vec::new()),
        Change::Snapshot { name: None },
        Change::Snapshot {
            name: Some("before the upgrade".into()),
        },
        Change::Revert(number),
        Change::Rollback { depth: number },
        Change::Rewind(number),
        Change::Reorg {
            blocks: vec![vec![first, second], Vec::new(), vec![third]],
        },
        Change::Reset,
        Change::Set(Setting::Mining(Mining::Instant)),
        Change::Set(Setting::Mining(Mining::Interval(Duration::from_nanos(
            number,
        )))),
        Change::Set(Setting::Mining(Mining::Manual)),
        Change::Set(Setting::NextBaseFee(number)),
        Change::Set(Setting::NextRandomness(HASH)),
        Change::Set(Setting::Beneficiary(ADDRESS)),
        Change::Set(Setting::GasLimit((number >> 1).max(5_000))),
        Change::Set(Setting::MinTip(wei)),
        Change::Set(Setting::Impersonated(ADDRESS, true)),
        Change::Set(Setting::Impersonated(ADDRESS, false)),
        Change::Set(Setting::AllImpersonated(true)),
        Change::Set(Setting::AllImpersonated(false)),
        Change::Set(Setting::Configured),
        Change::SetNextTimestamp(number),
        Change::IncreaseTime(number as i64),
        Change::SetTime(number),
        Change::SetBlockInterval(option),
    ]
}

fn requests(values: &Values) -> Vec<Request> {
    let submissions = transactions(values).map(|transaction| {
        Request::submit(
            &Submission {
                transaction,
                sidecar: None,
            },
            false,
        )
    });
    let selections = [
        PoolSelection::Transaction(HASH),
        PoolSelection::Sender(ADDRESS),
        PoolSelection::All,
    ];
    let mut all = Vec::from(submissions);
    all.extend(
        changes(values)
            .into_iter()
            .map(|change| Request::Change { id: None, change }),
    );
    all.extend(changes(values).into_iter().map(identified));
    all.extend(selections.map(Request::Drop));
    all
}

/// All errors of submitting a transaction.
fn submit_errors(values: &Values) -> Vec<SubmitError> {
    let Values {
        number,
        wei,
        wide,
        text,
        ..
    } = values.clone();
    let size = number as usize;
    vec![
        DecodeError::Malformed(text.clone()).into(),
        DecodeError::Signature.into(),
        DecodeError::MissingSidecar.into(),
        DecodeError::Sidecar(InvalidBlobs(text.clone())).into(),
        SubmitError::AlreadyKnown,
        SubmitError::WrongChain {
            have: number,
            want: 125,
        },
        SubmitError::TypeNotSupported(number as u8),
        SubmitError::Oversized {
            size,
            limit: 131_072,
        },
        SubmitError::InitCodeSize {
            size,
            limit: 49_152,
        },
        SubmitError::BlockGasLimit,
        SubmitError::TransactionGasCap {
            cap: 1 << 24,
            gas: number,
        },
        SubmitError::TipAboveFeeCap {
            tip: wei,
            max: u128::MAX,
        },
        SubmitError::Underpriced {
            tip: 0,
            minimum: wei,
        },
        SubmitError::IntrinsicGas {
            gas: number,
            needed: 21_000,
        },
        SubmitError::FloorDataGas {
            gas: number,
            needed: 21_000,
        },
        SubmitError::NonceTooLow {
            next: number,
            nonce: 3,
        },
        SubmitError::NonceMax(ADDRESS),
        SubmitError::SenderHasCode(ADDRESS),
        SubmitError::InsufficientFunds {
            balance: wide,
            cost: U256::MAX,
        },
        SubmitError::ReplacementUnderpriced,
        SubmitError::Blobs(text.clone()),
        SubmitError::EmptyAuthorizationList,
        SubmitError::PoolFull,
        SubmitError::Outbid,
        SubmitError::FutureReplacesPending,
        SubmitError::AccountLimit {
            count: size,
            bytes: size,
        },
        SubmitError::Evicted,
        SubmitError::Expired,
        SubmitError::Dropped(text.clone()),
        SubmitError::Storage(text.clone()),
        ReadError(text.clone()).into(),
        SubmitError::UnknownAccount,
        SubmitError::NotLeading,
        SubmitError::Unavailable(text),
        SubmitError::Stopped,
    ]
}

/// All errors of a change, but for those of [`AppendError`] that contain one of the system.
fn change_errors(values: &Values) -> Vec<ChangeError> {
    let Values { number, text, .. } = values.clone();
    vec![
        ReadError(text.clone()).into(),
        BlockError::Read(ReadError(text.clone())).into(),
        BlockError::SystemCall(ADDRESS, text.clone()).into(),
        BlockError::NoSystemContract(ADDRESS).into(),
        // The inner type is private to the EVM.
        serde_json::from_str(r#"{"Block": {"Deposit": null}}"#).unwrap(),
        AppendError::Conflict {
            expected: number,
            end: 1,
        }
        .into(),
        AppendError::TooLarge(number as usize).into(),
        AppendError::Unknown {
            file: "log-1".to_owned(),
            reason: text.clone(),
        }
        .into(),
        Pruned(number).into(),
        ChangeError::Transaction(HASH),
        ChangeError::Timestamp(number),
        ChangeError::TooLate(number),
        ChangeError::TooManyImpersonated(number as usize),
        BlockError::TooLate(number).into(),
        ChangeError::Recorded,
        DumpError::Signature(text.clone(), DecodeError::Signature).into(),
        DumpError::Receipts(number, 1, 2).into(),
        DumpError::Root {
            number,
            expected: HASH,
            found: B256::ZERO,
        }
        .into(),
        DumpError::Changes(1, 2).into(),
        DumpError::TooLate(number, number).into(),
        DumpError::Recorded.into(),
        DumpError::Read(ReadError(text.clone())).into(),
        ChangeError::NotLeading,
        ChangeError::Unavailable(text.clone()),
        Stopped::Ended.into(),
        Stopped::Unrecorded.into(),
        ChangeError::Outcome(text),
    ]
}

fn responses(values: &Values) -> Vec<Response> {
    let number = values.number;
    let done = [
        ChangeOutcome::Done,
        ChangeOutcome::Snapshot(number),
        ChangeOutcome::Found(true),
        ChangeOutcome::Found(false),
        ChangeOutcome::Seconds(number as i64),
    ];
    let mut outcomes = vec![
        Outcome::Submitted(Ok(Acknowledgement::Included)),
        Outcome::Dropped(Ok(true)),
        Outcome::Dropped(Ok(false)),
        Outcome::Dropped(Err(SubmitError::NotLeading)),
        Outcome::Undecodable(values.text.clone()),
        Outcome::InProgress,
    ];
    outcomes.extend(done.map(|outcome| Outcome::Changed(Ok(outcome))));
    outcomes.extend(
        submit_errors(values)
            .into_iter()
            .map(|error| Outcome::Submitted(Err(error))),
    );
    outcomes.extend(
        change_errors(values)
            .into_iter()
            .map(|error| Outcome::Changed(Err(error))),
    );
    outcomes
        .into_iter()
        .map(|outcome| Response {
            height: number,
            outcome,
        })
        .collect()
}

fn identified(change: Change) -> Request {
    Request::Change {
        id: Some(u64::MAX - 1),
        change,
    }
}

/// The request with all fields, also those that are computed when they are first used.
fn shown(request: &Request) -> String {
    if let Request::Change {
        change: Change::Reorg { blocks },
        ..
    } = request
    {
        blocks
            .iter()
            .flatten()
            .for_each(|transaction| _ = transaction.hash());
    }
    format!("{request:?}")
}

/// The error as text.
fn error_text(outcome: Outcome) -> Option<String> {
    match outcome {
        Outcome::Submitted(result) => result.err().map(|error| error.to_string()),
        Outcome::Changed(result) => result.err().map(|error| error.to_string()),
        Outcome::Dropped(result) => result.err().map(|error| error.to_string()),
        Outcome::Undecodable(reason) => Some(reason),
        Outcome::InProgress => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn every_request_is_decoded_as_it_was_encoded(values in values()) {
        for request in requests(&values) {
            let bytes = request.encode().unwrap();
            let decoded = Request::decode(&bytes).unwrap();
            prop_assert_eq!(shown(&request), shown(&decoded));
            prop_assert_eq!(decoded.encode().unwrap(), bytes);
        }
    }

    #[test]
    fn every_response_is_decoded_as_it_was_encoded(values in values()) {
        for response in responses(&values) {
            let decoded = Response::decode(&response.encode()).unwrap();
            prop_assert_eq!(format!("{response:?}"), format!("{decoded:?}"));
            prop_assert_eq!(error_text(response.outcome), error_text(decoded.outcome));
        }
    }

    #[test]
    fn truncated_messages_and_trailing_bytes_are_refused(
        values in values(),
        cut in any::<prop::sample::Index>(),
    ) {
        assert_truncated_messages_are_refused(&values, cut)?;
    }

    #[test]
    fn damaged_messages_are_decoded_or_refused(
        values in values(),
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        insert in prop::collection::vec(any::<u8>(), 0..12),
    ) {
        assert_damaged_messages_are_decoded_or_refused(&values, which, at, insert)?;
    }
}

fn assert_damaged_messages_are_decoded_or_refused(
    values: &Values,
    which: prop::sample::Index,
    at: prop::sample::Index,
    insert: Vec<u8>,
) -> Result<(), TestCaseError> {
    let mut request = which.get(&requests(values)).encode().unwrap();
    let place = at.index(request.len());
    request.splice(
        place..(place + 2).min(request.len()),
        insert.iter().copied(),
    );
    if let Ok(request) = Request::decode(&request) {
        prop_assert!(request.encode().is_ok());
    }

    let mut response = which.get(&responses(values)).encode();
    let place = at.index(response.len());
    response.splice(place..(place + 2).min(response.len()), insert);
    if let Ok(response) = Response::decode(&response) {
        prop_assert!(!response.encode().is_empty());
    }
    Ok(())
}

fn assert_truncated_messages_are_refused(
    values: &Values,
    cut: prop::sample::Index,
) -> Result<(), TestCaseError> {
    for request in requests(values) {
        let mut bytes = request.encode().unwrap();
        let at = cut.index(bytes.len());
        // The end of the message is the end of a signed transaction.
        if !matches!(request, Request::Submit { .. }) || at < 3 {
            prop_assert!(Request::decode(&bytes[..at]).is_err(), "{:?}", request);
            bytes.push(0);
            prop_assert!(Request::decode(&bytes).is_err() || at < 3, "{:?}", request);
        }
    }

    for response in responses(values) {
        let mut bytes = response.encode();
        let at = cut.index(bytes.len());
        prop_assert!(Response::decode(&bytes[..at]).is_err(), "{:?}", response);
        bytes.push(0);
        prop_assert!(Response::decode(&bytes).is_err(), "{:?}", response);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn any_bytes_are_decoded_or_refused(
        kind in 0..8_u8,
        change in 0..20_u8,
        rest in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let _ = Request::decode(&rest);
        let _ = Response::decode(&rest);
        let bytes = [&[VERSION, kind, change], rest.as_slice()].concat();
        let _ = Request::decode(&bytes);
        let _ = Response::decode(&bytes);
    }
}

#[test]
fn a_blob_transaction_is_forwarded_with_its_blobs() {
    let builder = SidecarBuilder::<SimpleCoder>::from_slice(b"what a block does not hold");
    let sidecars = [
        BlobTransactionSidecarVariant::Eip4844(builder.clone().build_4844().unwrap()),
        BlobTransactionSidecarVariant::Eip7594(builder.build_7594().unwrap()),
    ];
    for sidecar in sidecars {
        let hashes = sidecar.versioned_hashes().collect();
        let gas_price = GasPrice::Dynamic {
            max_fee: 10,
            max_tip: 1,
        };
        let call = TransactionFields::call(125, 0, 21_000, gas_price, ADDRESS, Bytes::new());
        let fields = TransactionFields {
            blobs: Some((hashes, 10)),
            ..call
        };
        let transaction = sign_transaction(&key(), fields.into()).unwrap();
        let submission = Submission {
            transaction,
            sidecar: Some(Box::new(sidecar)),
        };

        let bytes = Request::submit(&submission, true).encode().unwrap();
        let Request::Submit { raw, .. } = Request::decode(&bytes).unwrap() else {
            panic!("another request")
        };
        let received = Submission::decode(&raw).unwrap();
        assert_eq!(received.transaction.hash(), submission.transaction.hash());
        assert_eq!(received.transaction.sender, key().address());
        assert_eq!(received.sidecar, submission.sidecar);
    }
}

fn unsigned() -> UnsignedTransaction {
    let gas_price = GasPrice::Fixed(1);
    TransactionFields::call(125, 0, 21_000, gas_price, ADDRESS, Bytes::new()).into()
}

fn submit(transaction: Transaction) -> Request {
    let submission = Submission {
        transaction,
        sidecar: None,
    };
    Request::submit(&submission, false)
}

fn reorg(transaction: Transaction) -> Request {
    identified(Change::Reorg {
        blocks: vec![vec![transaction]],
    })
}

fn received(request: &Request) -> Result<Request, MessageError> {
    Request::decode(&request.encode().unwrap())
}

#[test]
fn a_signature_proves_its_sender_whatever_the_node_claims() {
    // A node that claims another sender for a signed transaction.
    let forged = Transaction {
        sender: ADDRESS,
        ..sign_transaction(&key(), unsigned()).unwrap()
    };
    for request in [submit(forged.clone()), reorg(forged)] {
        let sender = match received(&request).unwrap() {
            Request::Submit { raw, .. } => Submission::decode(&raw).unwrap().transaction.sender,
            Request::Change {
                change: Change::Reorg { blocks },
                ..
            } => blocks[0][0].sender,
            other => panic!("{other:?}"),
        };
        assert_eq!(sender, key().address());
    }
}

#[test]
fn a_transaction_of_an_impersonated_account_does_not_pass_as_signed() {
    // A node that passes an impersonated account's transaction off as signed.
    let forged = Transaction {
        public_key: Some(CompressedKey::new(key().public_key().compressed())),
        ..Transaction::impersonated(unsigned(), ADDRESS)
    };

    let Request::Submit { raw, .. } = received(&submit(forged.clone())).unwrap() else {
        panic!("another request")
    };
    assert!(matches!(
        Submission::decode(&raw),
        Err(DecodeError::Signature)
    ));

    assert_eq!(
        received(&reorg(forged)).unwrap_err(),
        Malformed("signature").into()
    );
}

#[test]
fn a_signature_of_another_account_is_not_kept_for_an_impersonated_one() {
    let impersonated = Transaction::impersonated(unsigned(), ADDRESS);
    // A node that gives an impersonated account's transaction the signature of another.
    let mixed = Transaction {
        envelope: sign_transaction(&key(), unsigned()).unwrap().envelope,
        ..impersonated.clone()
    };

    let Request::SubmitImpersonated { transaction, .. } = received(&submit(mixed)).unwrap() else {
        panic!("another request")
    };
    assert_eq!(
        (transaction.hash(), transaction.sender),
        (impersonated.hash(), ADDRESS)
    );
}

#[test]
fn a_signed_transaction_is_not_submitted_as_that_of_an_impersonated_account() {
    let signed = sign_transaction(&key(), unsigned()).unwrap();
    let out = &mut begin();
    out.byte(SUBMIT_IMPERSONATED);
    out.byte(0);
    change::write_transaction(&signed, out);
    assert_eq!(
        Request::decode(out.bytes()).unwrap_err(),
        Malformed("sender").into()
    );
}

#[test]
fn an_error_of_the_system_keeps_its_text() {
    let source = io::Error::from_raw_os_error(28);
    let error = ChangeError::Append(AppendError::Refused {
        file: "log-1".to_owned(),
        source,
    });
    let text = error.to_string();
    let response = Response {
        height: 0,
        outcome: Outcome::Changed(Err(error)),
    };
    let received = Response::decode(&response.encode()).unwrap();
    assert!(matches!(&received.outcome, Outcome::Changed(Err(error)) if error.to_string() == text));
    assert_eq!(error_text(received.outcome), error_text(response.outcome));
}

#[test]
fn changes_to_another_chain_have_the_error_of_a_chain_in_a_data_directory() {
    let params = Arc::new(ChainParams {
        chain_id: 125,
        forks: Forks::all_from_genesis(Fork::LATEST),
        deposit_contract: Address::ZERO,
        network_precompiles: false,
        standard: false,
        increasing_timestamps: false,
        limits: Default::default(),
        signers: Arc::default(),
        cosmos: Default::default(),
    });
    let dump: Dump = serde_json::from_str(r#"{"accounts": {}}"#).unwrap();
    let dump = dump
        .prepare(params.clone(), HistoryLimits::default())
        .unwrap();
    let head = Genesis::empty(0, 30_000_000).build(params).unwrap();

    let restart = identified(Change::Restart {
        head: Box::new(head),
        gas_limit: 30_000_000,
    });
    assert!(matches!(restart.encode(), Err(ChangeError::Recorded)));

    let load = identified(Change::Load(dump));
    assert!(matches!(
        load.encode(),
        Err(ChangeError::Dump(DumpError::Recorded))
    ));
}

#[test]
fn another_version_is_refused_by_name() {
    let mut request = Request::Drop(PoolSelection::All).encode().unwrap();
    request[0] = 2;
    let error = Request::decode(&request).unwrap_err();
    assert_eq!(error, MessageError::Version(2));
    assert_eq!(
        error.to_string(),
        "a message of version 2, but this node has version 1: run the same release on all nodes"
    );
    assert_eq!(
        Response::decode(&request).unwrap_err(),
        MessageError::Version(2)
    );
    assert!(Request::decode(&[]).is_err());
}

#[test]
fn changes_beyond_the_limits_of_the_methods_are_refused() {
    for change in [
        Change::Mine {
            count: MAX_MINED_BLOCKS + 1,
            pace: Pace::default(),
        },
        Change::Set(Setting::GasLimit(4_999)),
        Change::Set(Setting::GasLimit(1 << 63)),
    ] {
        let bytes = identified(change).encode().unwrap();
        assert!(matches!(
            Request::decode(&bytes),
            Err(MessageError::Malformed(_))
        ));
    }
}

#[test]
fn refusals_of_a_node_that_does_not_lead_are_no_executions() {
    for (outcome, executed) in [
        (Outcome::Submitted(Err(SubmitError::NotLeading)), false),
        (Outcome::Changed(Err(ChangeError::NotLeading)), false),
        (Outcome::Dropped(Err(SubmitError::NotLeading)), false),
        (Outcome::Submitted(Err(SubmitError::Stopped)), true),
        (Outcome::Changed(Err(Stopped::Ended.into())), true),
        (Outcome::Submitted(Ok(Acknowledgement::Included)), true),
    ] {
        assert_eq!(outcome.is_executed(), executed, "{outcome:?}");
    }
}
