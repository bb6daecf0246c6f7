//! Blocks that are no longer held are read from disk.

use std::{
    sync::{Arc, Barrier, OnceLock},
    thread,
};

use alloy_consensus::Header;
use alloy_primitives::{Address, U256};
use serde_json::{Value, json};
use tetrad_chain::{BlockId, HistoryLimits, Mining};
use tetrad_contracts::contracts::bindings::Token;
use tetrad_primitives::block::Block;
use tetrad_store::{
    log::{BlockLog, ChainIdentity, Durability, LocalLogs, LogEntry, LogStore},
    storage::{Directory, Storage},
    store::{DiskHistory, Found, LogKey},
};

use super::{
    disk::Disk,
    ledger::{recover, send, start, transfer},
};
use crate::support::{TestNode, node_with};

#[tokio::test]
async fn old_blocks_are_found_by_number_hash_and_transaction() {
    let disk = Disk::new(1);
    let (chain, _writer) = start(recover(Arc::new(disk.clone())).unwrap(), Mining::Instant);

    let mut hashes = Vec::new();
    for nonce in 0..40 {
        hashes.push(
            send(&chain, transfer(0, nonce, Address::repeat_byte(9)))
                .await
                .unwrap(),
        );
    }

    for restarted in [false, true] {
        let (chain, _writer) = if restarted {
            let (chain, writer) = start(recover(Arc::new(disk.kill())).unwrap(), Mining::Instant);
            (chain, Some(writer))
        } else {
            (chain.clone(), None)
        };

        let head = chain.head();
        assert!(
            restarted || head.oldest() > 30,
            "memory holds {} blocks",
            head.number() - head.oldest()
        );

        for (at, hash) in hashes.iter().enumerate() {
            let number = at as u64 + 1;
            let block = chain
                .block(&head, BlockId::Number(number))
                .unwrap()
                .unwrap();
            assert_eq!(
                (block.number(), block.transactions[0].hash()),
                (number, *hash)
            );
            assert_eq!(
                chain
                    .block(&head, BlockId::Hash(block.hash))
                    .unwrap()
                    .unwrap()
                    .hash,
                block.hash
            );
            assert_eq!(
                chain
                    .transaction(&head, *hash)
                    .map(|(block, index)| (block.hash, index)),
                Some((block.hash, 0))
            );

            assert_eq!(block.verify(), Ok(()));

            let state = chain.view(BlockId::Number(number)).unwrap().state;
            assert_eq!(
                state.balance(Address::repeat_byte(9)).unwrap(),
                U256::from(number),
                "after block {number}"
            );

            let before = head.state_before(number).unwrap();
            assert_eq!(
                before.balance(Address::repeat_byte(9)).unwrap(),
                U256::from(number - 1),
                "before block {number}"
            );
        }

        assert_eq!(
            chain
                .view(BlockId::Earliest)
                .unwrap()
                .state
                .nonce(super::ledger::key(0).address())
                .unwrap(),
            0
        );
        assert!(chain.block(&head, BlockId::Number(41)).unwrap().is_none());
        assert_eq!(chain.oldest(&head).min(1), head.oldest().min(1));
    }
}

/// Blocks with one token transfer each, to different accounts.
async fn transfers(node: &TestNode, token: Address) -> Vec<Arc<Block>> {
    let mut blocks = Vec::new();
    for round in 1..20u64 {
        let call = Token::transferCall {
            to: Address::with_last_byte(round as u8),
            value: U256::from(round),
        };
        let receipt = node.send(&node.signer(0), token, call).await;
        let head = node.chain().head();
        blocks.push(
            node.chain()
                .block(&head, BlockId::Hash(receipt.block_hash.unwrap()))
                .unwrap()
                .unwrap(),
        );
    }
    blocks
}

fn block_entry(block: Arc<Block>) -> LogEntry {
    LogEntry::Block {
        block,
        changes: Arc::default(),
        shift: Default::default(),
    }
}

/// Appends an entry to a log, and inserts it into its index.
fn append(log: &mut dyn BlockLog, history: &Arc<DiskHistory>, entry: &LogEntry) {
    let before = log.written();
    log.append(log.end(), &entry.to_bytes()).unwrap();
    history.insert(entry, log.written() - before);
}

/// The blocks before another one whose logs may have a key, newest first.
fn newest_first(history: &DiskHistory, before: u64, key: LogKey) -> Vec<u64> {
    history.candidates_before(before, &[vec![key]]).collect()
}

/// A log of many small segments, and an index of many parts.
#[tokio::test]
async fn old_blocks_are_found_across_parts_of_the_index() {
    let node = crate::support::node().await;
    let holder = node.account(0);
    let token = crate::support::chain::token("USDC");
    let blocks = transfers(&node, token.address).await;

    let directory = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(Directory::new(directory.path()).unwrap());
    let identity = ChainIdentity {
        chain_id: 125,
        genesis: node.chain().head().genesis.hash,
    };
    let logs = LocalLogs::new(storage.clone())
        .with_durability(Durability::Os)
        .with_segments_of(2_000);

    let mut log = logs.open(identity, 0).unwrap();
    let history = DiskHistory::open(storage.clone(), log.reader(), identity, 3_000).unwrap();

    for block in &blocks {
        append(&mut *log, &history, &block_entry(block.clone()));
    }

    let entry = LogEntry::Revert {
        to: 17,
        shift: Default::default(),
        uses_up: None,
    };
    append(&mut *log, &history, &entry);
    history.finish();

    for round in 0..2 {
        let reopened = DiskHistory::open(storage.clone(), log.reader(), identity, 3_000).unwrap();
        // A reader with an open file does not notice its damage.
        for history in [&reopened, &history].into_iter().take(2 - round) {
            for (at, block) in blocks.iter().enumerate() {
                let found = history.block(block.number()).map(|block| block.hash);
                assert_eq!(found, (at < 17).then_some(block.hash), "block {at}");

                let hash = block.transactions[0].hash();
                let found = history.find(hash);
                assert_eq!(
                    matches!(found, Some(Found::Transaction(_, 0))),
                    at < 17,
                    "transaction of block {at}"
                );
                assert_eq!(
                    matches!(history.find(block.hash), Some(Found::Block(_))),
                    at < 17
                );
            }

            let numbers: Vec<u64> = blocks.iter().map(|block| block.number()).collect();
            let recipient = |n: u8| LogKey::topic(2, &Address::with_last_byte(n).into_word());
            let of_token = LogKey::address(&token.address);
            let of_holder = LogKey::topic(1, &holder.into_word());

            let first = numbers[0];
            let last = numbers[18];
            assert_eq!(history.candidates(first, last, &[vec![of_token]]), numbers);
            assert_eq!(
                history.candidates(first, last, &[vec![of_holder], vec![recipient(5)]]),
                [numbers[4]]
            );
            assert!(
                history
                    .candidates(first, last, &[vec![recipient(99)]])
                    .is_empty()
            );

            let standing: Vec<u64> = numbers[..17].iter().rev().copied().collect();
            assert_eq!(
                newest_first(history, u64::MAX, of_token),
                standing,
                "reverted blocks are not in the index"
            );
            assert_eq!(newest_first(history, numbers[9], of_token), standing[8..]);
            assert_eq!(
                newest_first(history, numbers[9], recipient(5)),
                [numbers[4]]
            );
            assert!(
                newest_first(history, numbers[4], recipient(5)).is_empty()
                    && newest_first(history, 0, recipient(5)).is_empty()
            );

            let between = history.candidates(
                numbers[3],
                numbers[6],
                &[vec![recipient(2), recipient(4), recipient(7)]],
            );
            assert_eq!(between, [numbers[3], numbers[6]]);
        }

        // Damaged or missing indexes are rebuilt.
        for file in std::fs::read_dir(directory.path()).unwrap() {
            let path = file.unwrap().path();
            if path
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with("index-0000000000000000000")
            {
                let mut bytes = std::fs::read(&path).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                std::fs::write(&path, bytes).unwrap();
            }
        }
    }
}

/// A log of small segments and its index of small parts, in a directory.
struct Indexed {
    storage: Arc<dyn Storage>,
    log: Box<dyn BlockLog>,
    history: Arc<DiskHistory>,
    _directory: tempfile::TempDir,
}

impl Indexed {
    const IDENTITY: ChainIdentity = ChainIdentity {
        chain_id: 125,
        genesis: alloy_primitives::B256::ZERO,
    };

    fn new(entries: &[LogEntry]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let storage: Arc<dyn Storage> = Arc::new(Directory::new(directory.path()).unwrap());
        let logs = LocalLogs::new(storage.clone())
            .with_durability(Durability::Os)
            .with_segments_of(2_000);
        let log = logs.open(Self::IDENTITY, 0).unwrap();
        let history =
            DiskHistory::open(storage.clone(), log.reader(), Self::IDENTITY, 3_000).unwrap();
        let mut indexed = Self {
            storage,
            log,
            history,
            _directory: directory,
        };
        indexed.extend(entries);
        indexed
    }

    fn extend(&mut self, entries: &[LogEntry]) {
        for entry in entries {
            append(&mut *self.log, &self.history, entry);
        }
        self.history.finish();
    }

    /// Everything that the log and the index have about these blocks.
    fn known(&self, history: &DiskHistory, blocks: &[Arc<Block>]) -> Vec<String> {
        let reader = self.log.reader();
        let entries = reader
            .stream(0)
            .unwrap()
            .map(|stored| format!("{:?}", stored.unwrap().bytes));
        let read = reader
            .heights()
            .map(|height| format!("{:?}", reader.read(height).unwrap().bytes));
        let found = blocks.iter().map(|block| {
            let by_number = history.block(block.number()).map(|block| block.hash);
            let by_hash = history.find(block.transactions[0].hash()).is_some();
            let logs = history.candidates(
                block.number(),
                block.number(),
                &[block.receipts[0]
                    .logs
                    .iter()
                    .flat_map(LogKey::all)
                    .collect()],
            );
            format!(
                "{by_number:?} {by_hash} {logs:?} {:?}",
                history.height_of(block.number())
            )
        });
        entries.chain(read).chain(found).collect()
    }
}

#[tokio::test]
async fn a_truncated_log_and_its_index_continue_like_shorter_ones() {
    let node = crate::support::node().await;
    let token = crate::support::chain::token("USDC");
    let blocks = transfers(&node, token.address).await;
    let mut entries: Vec<_> = blocks.iter().cloned().map(block_entry).collect();
    entries.insert(
        12,
        LogEntry::Revert {
            to: 9,
            shift: Default::default(),
            uses_up: None,
        },
    );
    entries.push(LogEntry::Revert {
        to: 17,
        shift: Default::default(),
        uses_up: None,
    });

    for end in [entries.len(), 20, 18, 13, 12, 10, 5, 1, 0] {
        let mut truncated = Indexed::new(&entries);
        let aside = truncated.log.truncate(end as u64).unwrap();
        truncated.history.truncate(end as u64).unwrap();
        assert_eq!(aside.is_empty(), end == entries.len(), "{aside:?}");

        let mut fresh = Indexed::new(&entries[..end]);

        // The heights are used again, for other entries.
        for _ in 0..2 {
            assert_eq!(truncated.log.end(), fresh.log.end());
            let expected = fresh.known(&fresh.history, &blocks);
            assert_eq!(
                truncated.known(&truncated.history, &blocks),
                expected,
                "at {end}"
            );

            let storage = truncated.storage.clone();
            let reader = truncated.log.reader();
            let reopened = DiskHistory::open(storage, reader, Indexed::IDENTITY, 3_000).unwrap();
            assert_eq!(
                truncated.known(&reopened, &blocks),
                expected,
                "at {end}, opened again"
            );

            let others: Vec<_> = entries
                .iter()
                .rev()
                .filter(|entry| matches!(entry, LogEntry::Block { .. }))
                .take(9)
                .cloned()
                .collect();
            truncated.extend(&others);
            fresh.extend(&others);
        }
    }
}

#[tokio::test]
async fn old_blocks_are_searched_for_calls_and_listed_as_available() {
    let place = tempfile::tempdir().unwrap();
    for data_dir in [None, Some(place.path().join("chain"))] {
        let is_on_disk = data_dir.is_some();
        let node = node_with(|config| {
            config.history = HistoryLimits {
                blocks: 8,
                ..config.history
            };
            config.data_dir = data_dir;
        });
        let node = node.await;
        for _ in 0..40 {
            let transfer =
                json!([{"from": node.account(0), "to": node.account(1), "value": "0x1"}]);
            node.rpc("eth_sendTransaction", transfer).await;
        }

        let capabilities = node.rpc("eth_capabilities", json!([])).await;
        let answer = node
            .request(
                "trace_filter",
                json!([{"fromBlock": "0x1", "toBlock": "0x2"}]),
            )
            .await;
        if is_on_disk {
            assert_eq!(answer["result"].as_array().map(Vec::len), Some(2));
            assert_eq!(capabilities["blocks"]["oldestBlock"], "0x1");
            assert_eq!(
                capabilities["blocks"]["deleteStrategy"],
                json!({"type": "none"})
            );
        } else {
            assert_eq!(answer["error"]["code"], 4444, "{answer}");
            assert_eq!(capabilities["blocks"]["oldestBlock"], "0x21");
            assert_eq!(
                capabilities["blocks"]["deleteStrategy"]["retentionBlocks"],
                "0x8"
            );
        }
        node.end().await;
    }
}

/// The response to a request for the fees of this many blocks up to the newest.
async fn fees(node: &TestNode, count: Value, newest: Value) -> Value {
    node.request("eth_feeHistory", json!([count, newest, [0, 50, 100]]))
        .await
}

#[tokio::test]
async fn fee_history_covers_the_requested_old_blocks() {
    let place = tempfile::tempdir().unwrap();
    for data_dir in [None, Some(place.path().join("chain"))] {
        let is_on_disk = data_dir.is_some();
        let node = node_with(|config| {
            config.history = HistoryLimits {
                blocks: 8,
                ..config.history
            };
            config.data_dir = data_dir;
        });
        let node = node.await;

        let mut base_fees = vec![json!("0x3b9aca00")];

        for tip in 0..40u64 {
            let fee = format!("{:#x}", 1_000_000_000 + tip);
            let transfer = json!([{
                "from": node.account(0), "to": node.account(1), "gas": "0x5208",
                "maxFeePerGas": "0x2540be400", "maxPriorityFeePerGas": fee,
            }]);
            node.rpc("eth_sendTransaction", transfer).await;

            let block = node
                .rpc("eth_getBlockByNumber", json!(["latest", false]))
                .await;
            base_fees.push(block["baseFeePerGas"].clone());
        }

        for (count, newest) in [
            (1u64, 1u64),
            (5, 10),
            (3, 31),
            (20, 33),
            (40, 40),
            (41, 40),
            (u64::MAX, 20),
            (1, 0),
        ] {
            let answer = fees(&node, json!(count), json!(format!("{newest:#x}"))).await;
            let first = (newest + 1).saturating_sub(count);

            // The first block is always held, and so are the newest eight of the others.
            let is_held = |number: u64| is_on_disk || number > 32 || number == 0;
            if !is_held(newest) {
                assert_eq!(answer["error"]["code"], 4444, "{answer}");
                assert_eq!(answer["error"]["message"], "pruned history unavailable");
                continue;
            }

            let first = (first..=newest)
                .rev()
                .take_while(|number| is_held(*number))
                .last()
                .unwrap();
            let result = &answer["result"];
            assert_eq!(
                result["oldestBlock"],
                json!(format!("{first:#x}")),
                "{count} to {newest}: {answer}"
            );

            let number = (newest + 1 - first) as usize;
            for (member, length) in [
                ("baseFeePerGas", number + 1),
                ("gasUsedRatio", number),
                ("reward", number),
            ] {
                assert_eq!(result[member].as_array().unwrap().len(), length, "{member}");
            }

            for (at, block) in (first..=newest).enumerate() {
                assert_eq!(
                    result["baseFeePerGas"][at], base_fees[block as usize],
                    "block {block}"
                );

                let tip = block.checked_sub(1).map_or(0, |tip| 1_000_000_000 + tip);
                assert_eq!(
                    result["reward"][at][1],
                    json!(format!("{tip:#x}")),
                    "block {block}"
                );
            }

            if let Some(next) = base_fees
                .get(newest as usize + 1)
                .filter(|_| is_held(newest + 1))
            {
                assert_eq!(result["baseFeePerGas"][number], *next, "the block after");
            }
        }

        assert_eq!(
            fees(&node, json!(0), json!("0x5")).await["result"]["oldestBlock"],
            "0x0"
        );
        let beyond = fees(&node, json!(1), json!("0xffffffffffffffff")).await;
        assert_eq!(beyond["error"]["code"], -32000, "{beyond}");
        node.end().await;
    }
}

/// A block without transactions, of about this many bytes.
fn block_of_size(number: u64, bytes: usize) -> Arc<Block> {
    let header = Header {
        number,
        extra_data: vec![7; bytes].into(),
        ..Header::default()
    };
    Arc::new(Block {
        hash: header.hash_slow(),
        header,
        transactions: Vec::new(),
        receipts: Vec::new(),
        ommers: Vec::new(),
        withdrawals: None,
        known_size: OnceLock::new(),
    })
}

/// Decoded, it takes several times the memory of its encoding, which exceeds the cache of blocks.
#[test]
fn many_readers_of_a_large_block_decode_it_once() {
    let entries = [
        block_entry(block_of_size(1, 5_000_000)),
        block_entry(block_of_size(2, 10)),
    ];
    let indexed = Indexed::new(&entries);
    let reader = indexed.log.reader();
    for (height, entry) in (0..).zip(&entries) {
        assert_eq!(reader.size(height), Some(entry.to_bytes().len()));
    }
    assert_eq!(reader.size(2), None);

    let start = Barrier::new(8);
    let found: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    indexed.history.block(1).unwrap()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(found.iter().all(|block| Arc::ptr_eq(block, &found[0])));
    assert_eq!(indexed.history.block(2).unwrap().number(), 2);
}
