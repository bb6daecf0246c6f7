//! Blocks that memory no longer holds are found on disk.

use std::sync::Arc;

use alloy_primitives::{Address, U256};
use tetrad::{
    chain::{BlockId, Mining},
    log::{BlockLog, ChainIdentity, Directory, Durability, Entry, LocalLog, Storage},
    store::{Found, History, LogKey},
};

use super::{
    disk::Disk,
    ledger::{recover, send, start, transfer},
};

#[tokio::test]
async fn by_number_by_hash_and_by_transaction() {
    let disk = Disk::new(1);
    let (chain, _writer) = start(recover(Arc::new(disk.clone())).unwrap(), Mining::Instant);
    let mut hashes = Vec::new();
    for nonce in 0..40 {
        hashes.push(send(&chain, transfer(0, nonce, Address::repeat_byte(9))).await.unwrap());
    }
    for restarted in [false, true] {
        let (chain, _writer) = match restarted {
            false => (chain.clone(), None),
            true => {
                let (chain, writer) = start(recover(Arc::new(disk.kill())).unwrap(), Mining::Instant);
                (chain, Some(writer))
            }
        };
        let head = chain.head();
        assert!(restarted || head.oldest() > 30, "memory holds {} blocks", head.number() - head.oldest());
        for (at, hash) in hashes.iter().enumerate() {
            let number = at as u64 + 1;
            let block = chain.block(&head, BlockId::Number(number)).unwrap().unwrap();
            assert_eq!((block.number(), block.transactions[0].hash()), (number, *hash));
            assert_eq!(chain.block(&head, BlockId::Hash(block.hash)).unwrap().unwrap().hash, block.hash);
            assert_eq!(
                chain.transaction(&head, *hash).map(|(block, index)| (block.hash, index)),
                Some((block.hash, 0))
            );
            assert_eq!(block.verify(), Ok(()));
            let state = chain.view(BlockId::Number(number)).unwrap().state;
            assert_eq!(state.balance(Address::repeat_byte(9)).unwrap(), U256::from(number), "after block {number}");
            let before = head.state_before(number).unwrap();
            assert_eq!(
                before.balance(Address::repeat_byte(9)).unwrap(),
                U256::from(number - 1),
                "before block {number}"
            );
        }
        assert_eq!(chain.view(BlockId::Earliest).unwrap().state.nonce(super::ledger::key(0).address()).unwrap(), 0);
        assert!(chain.block(&head, BlockId::Number(41)).unwrap().is_none());
        assert_eq!(chain.oldest(&head).min(1), head.oldest().min(1));
    }
}

/// The log of a node in many small segments, with their indexes.
#[tokio::test]
async fn through_the_indexes_of_many_segments() {
    let node = crate::support::node().await;
    let holder = node.account(0);
    let token = crate::support::chain::token("USDC");
    let mut blocks = Vec::new();
    for round in 1..20u64 {
        let call = crate::support::abi::Erc20::transferCall {
            to: Address::with_last_byte(round as u8),
            value: U256::from(round),
        };
        let receipt = node.send(&node.signer(0), token.address, call).await;
        let head = node.chain().head();
        blocks.push(node.chain().block(&head, BlockId::Hash(receipt.block_hash.unwrap())).unwrap().unwrap());
    }
    let directory = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(Directory::new(directory.path()).unwrap());
    let identity = ChainIdentity { chain_id: 125, genesis: node.chain().head().genesis.hash };
    let mut log = LocalLog::open(storage.clone(), identity, Durability::Os, 0).unwrap().with_segments_of(3_000);
    let history = History::open(storage.clone(), log.reader(), identity).unwrap();
    for block in &blocks {
        let entry = Entry::Block { block: block.clone(), changes: Arc::default(), shift: Default::default() };
        let location = log.append(log.end(), &entry).unwrap();
        history.insert(location, &entry);
    }
    let entry = Entry::Revert { to: 17, shift: Default::default() };
    let location = log.append(log.end(), &entry).unwrap();
    history.insert(location, &entry);
    history.finish();

    for round in 0..2 {
        let reopened = History::open(storage.clone(), log.reader(), identity).unwrap();
        // Whoever has a rotten file open does not notice.
        for history in [&reopened, &history].into_iter().take(2 - round) {
            for (at, block) in blocks.iter().enumerate() {
                let found = history.block(block.number()).map(|block| block.hash);
                assert_eq!(found, (at < 17).then_some(block.hash), "block {at}");
                let hash = block.transactions[0].hash();
                let found = history.find(hash);
                assert_eq!(matches!(found, Some(Found::Transaction(_, 0))), at < 17, "transaction of block {at}");
                assert_eq!(matches!(history.find(block.hash), Some(Found::Block(_))), at < 17);
            }
            let numbers: Vec<u64> = blocks.iter().map(|block| block.number()).collect();
            let (first, last) = (numbers[0], numbers[18]);
            let by = |keys: &[LogKey]| {
                history.candidates(first, last, &keys.iter().map(|key| vec![*key]).collect::<Vec<_>>())
            };
            let recipient = |n: u8| LogKey::topic(2, &Address::with_last_byte(n).into_word());
            assert_eq!(by(&[LogKey::address(&token.address)]), numbers);
            assert_eq!(by(&[LogKey::topic(1, &holder.into_word()), recipient(5)]), [numbers[4]]);
            assert!(by(&[recipient(99)]).is_empty());
            let between = history.candidates(numbers[3], numbers[6], &[vec![recipient(2), recipient(4), recipient(7)]]);
            assert_eq!(between, [numbers[3], numbers[6]]);
        }
        // Indexes that rot, or are gone, are made again.
        for file in std::fs::read_dir(directory.path()).unwrap() {
            let path = file.unwrap().path();
            if path.file_name().unwrap().to_str().unwrap().starts_with("index-0000000000000000000") {
                let mut bytes = std::fs::read(&path).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                std::fs::write(&path, bytes).unwrap();
            }
        }
    }
}
