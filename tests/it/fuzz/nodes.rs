//! Input from other nodes and from the disk.

use std::{fs, sync::Arc};

use alloy_primitives::{Address, B256, U256};
use serde_json::json;
use tetrad_chain::{
    Acknowledgement, Change, ChangeError, ChangeOutcome, Edit, Head, Mining, PoolSelection,
    Setting, Stopped,
};
use tetrad_cluster::{
    fuzzing::{message, parts},
    message::{Outcome, Request, Response},
};
use tetrad_primitives::block::{Submission, Transaction};
use tetrad_store::{
    log::{ChainIdentity, EditableParams, LogEntry, TimeShift, fuzzing},
    storage::{Directory, Storage},
    store::{Checkpoint, PendingTransaction, PoolFile, Standing, fuzzing as store},
};

use super::{fuzz, small_chain};

const SHIFT: TimeShift = TimeShift {
    ahead: -5,
    next_timestamp: Some(7),
    interval: None,
};

fn head() -> Arc<Head> {
    small_chain::chain(&small_chain::runtime()).head()
}

fn impersonated(head: &Head) -> Transaction {
    (*head.block.transactions[0]).clone()
}

#[test]
fn any_bytes_either_decode_to_a_message_between_nodes_or_fail() {
    let transaction = impersonated(&head());

    let requests = [
        Request::submit(
            &Submission {
                transaction: transaction.clone(),
                sidecar: None,
            },
            true,
        ),
        Request::Submit {
            raw: transaction.encode().into(),
            again: false,
        },
        Request::Drop(PoolSelection::All),
        Request::Drop(PoolSelection::Sender(Address::repeat_byte(1))),
        Request::Change {
            id: None,
            change: Change::Reorg {
                blocks: vec![vec![transaction], Vec::new()],
            },
        },
        Request::Change {
            id: Some(5),
            change: Change::Set(Setting::Mining(Mining::Manual)),
        },
        Request::Change {
            id: Some(u64::MAX),
            change: Change::Snapshot {
                name: Some("a".into()),
            },
        },
        Request::Change {
            id: None,
            change: Change::Edit(vec![
                Edit::Balance(Address::ZERO, U256::MAX),
                Edit::Code(Address::ZERO, vec![1, 2].into()),
                Edit::Storage(Address::ZERO, U256::ONE, U256::MAX),
            ]),
        },
    ];

    let outcomes = [
        Outcome::Submitted(Ok(Acknowledgement::Included)),
        Outcome::Changed(Ok(ChangeOutcome::Seconds(-5))),
        Outcome::Changed(Err(ChangeError::Stopped(Stopped::Ended))),
        Outcome::Dropped(Ok(true)),
        Outcome::Undecodable("why".to_owned()),
        Outcome::InProgress,
    ];

    let mut seeds: Vec<Vec<u8>> = requests
        .iter()
        .map(|request| request.encode().unwrap())
        .collect();
    seeds.extend(outcomes.map(|outcome| {
        Response {
            height: 300,
            outcome,
        }
        .encode()
    }));

    seeds.push(
        json!({"node": "a", "instance": 5, "epoch": 3})
            .to_string()
            .into_bytes(),
    );

    let state = json!({
        "node": "a", "instance": "05", "version": "0.1.0", "role": "leader", "epoch": 3, "height": 5, "block": 4,
        "url": "http://a", "timeMs": 5,
    });
    seeds.push(state.to_string().into_bytes());

    assert!(seeds.iter().all(|seed| message(seed) > 0));
    assert!(fuzz("message", 5_000, &seeds, message) > 0);
}

#[test]
fn any_bytes_either_decode_to_a_log_entry_with_one_encoding_or_fail() {
    let head = head();
    let changes = head.changes_from(1).next().unwrap()[0].clone();
    let root = head.state.root();
    let parameters = EditableParams {
        chain_id: 5,
        signers: vec![([7; 65].into(), Address::ZERO)],
    };

    let entries = [
        LogEntry::Block {
            block: head.block.clone(),
            changes: changes.clone(),
            shift: SHIFT,
        },
        LogEntry::Block {
            block: head.genesis.clone(),
            changes: changes.clone(),
            shift: SHIFT,
        },
        LogEntry::Edit {
            changes,
            root,
            parameters: Some(parameters),
        },
        LogEntry::Time(SHIFT),
        LogEntry::Revert {
            to: 300,
            shift: SHIFT,
            uses_up: Some(3),
        },
        LogEntry::Snapshot {
            id: 1,
            number: 2,
            hash: B256::ZERO,
            shift: SHIFT,
            name: Some("a".into()),
        },
        LogEntry::Epoch {
            number: 3,
            node: "a".to_owned(),
        },
        LogEntry::Setting(Setting::Mining(Mining::Manual)),
    ];

    let seeds = entries.map(|entry| entry.to_bytes());
    assert!(seeds.iter().all(|seed| fuzzing::entry(seed) == 1));
    assert!(fuzz("log_entry", 5_000, &seeds, fuzzing::entry) > 0);
}

#[test]
fn an_entry_is_complete_only_if_its_parts_are_consecutive() {
    // The parts of an entry, those of another one in between, and a header.
    let seeds = [
        vec![8, 0, 9, 0, 10, 0, 0, 1],
        vec![8, 0, 9, 0, 4, 1, 5, 1, 10, 0],
        b"1 300 0 2 ff 7".to_vec(),
    ];
    assert!(parts(&seeds[0]) == 2 && parts(&seeds[1]) == 1);
    assert!(fuzz("log_parts", 5_000, &seeds, parts) > 0);
}

#[test]
fn any_records_either_load_as_a_checkpoint_with_one_state_or_fail() {
    let head = head();
    let folder = tempfile::tempdir().unwrap();
    let storage = Directory::new(folder.path()).unwrap();
    let identity = ChainIdentity {
        chain_id: 125,
        genesis: head.genesis.hash,
    };

    let mut named = Standing::default();
    let entry = LogEntry::Snapshot {
        id: 0,
        number: 1,
        hash: B256::ZERO,
        shift: SHIFT,
        name: Some("a".into()),
    };
    named.follow(2, &entry).unwrap();

    let mut set = named.clone();
    set.follow(
        3,
        &LogEntry::Setting(Setting::Impersonated(Address::ZERO, true)),
    )
    .unwrap();

    let seeds: Vec<Vec<u8>> = [Standing::default(), named, set]
        .into_iter()
        .enumerate()
        .map(|(height, standing)| {
            let checkpoint = Checkpoint {
                height: height as u64,
                shift: SHIFT,
                genesis: head.genesis.clone(),
                block: head.block.clone(),
                state: head.state.clone(),
                parameters: EditableParams {
                    chain_id: 125,
                    signers: Vec::new(),
                },
                standing,
            };
            checkpoint.write(&storage, identity).unwrap();
            store::contents(
                &fs::read(folder.path().join(format!("checkpoint-{height:020}"))).unwrap(),
            )
        })
        .collect();

    assert!(seeds.iter().all(|seed| store::checkpoint(seed) == 1));
    assert!(fuzz("checkpoint", 2_000, &seeds, store::checkpoint) > 0);
}

#[test]
fn any_bytes_either_decode_to_a_pending_transaction_with_one_encoding_or_fail() {
    let head = head();
    let folder = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(Directory::new(folder.path()).unwrap());
    let identity = ChainIdentity {
        chain_id: 125,
        genesis: head.genesis.hash,
    };
    let pending = PendingTransaction {
        transaction: Arc::new(impersonated(&head)),
        sidecar: None,
    };
    PoolFile::create(storage, identity, &[pending]).unwrap();
    // The second record, without the length of its content.
    let contents = store::contents(&fs::read(folder.path().join("pool")).unwrap());
    let first = usize::from(contents[0]);
    let seeds = [contents[first + 6..].to_vec()];
    assert_eq!(store::pending(&seeds[0]), 1);
    assert!(fuzz("pending", 5_000, &seeds, store::pending) > 0);
}
