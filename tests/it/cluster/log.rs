//! The log of a cluster, a copy beside a stream: entries that the stream lost or replaced.

use std::sync::Arc;

use alloy_primitives::{B256, keccak256};
use async_nats::{HeaderMap, jetstream};
use futures_util::future::BoxFuture;
use tetrad_cluster::jetstream::{CopiedEntry, JetStreamLogs, LogStream, OtherCopies};
use tetrad_store::log::{
    AppendError, BlockLog, ChainIdentity, LogError, LogStore, MemoryLog, ReadLog,
};
use tokio::{runtime::Handle, task::block_in_place, time::sleep};

use super::{POLL, WAIT_TIMEOUT, nats::NatsServers};

const IDENTITY: ChainIdentity = ChainIdentity {
    chain_id: 125,
    genesis: B256::ZERO,
};
const SUBJECT: &str = "log";

async fn stream(nats: &NatsServers) -> LogStream {
    LogStream::create(&jetstream::new(nats.client().await), "LOG", SUBJECT, 1)
        .await
        .unwrap()
}

/// The entry at a height, if the log has it.
fn read(log: &dyn ReadLog, height: u64) -> Option<Vec<u8>> {
    log.heights()
        .contains(&height)
        .then(|| log.read(height).unwrap().bytes)
}

/// A copy with these entries.
fn copy(entries: &[&str]) -> MemoryLog {
    let mut copy = MemoryLog::default();
    for (height, entry) in (0..).zip(entries) {
        copy.append(height, entry.as_bytes()).unwrap();
    }
    copy
}

/// The leader, if there is one, represented by its copy.
#[derive(Clone, Default)]
struct Leader(Option<MemoryLog>);

impl OtherCopies for Leader {
    fn entry(&self, height: u64) -> BoxFuture<'_, Option<CopiedEntry>> {
        let log = self.0.as_ref().map(BlockLog::reader);
        let entry = log.and_then(|log| {
            let previous = height
                .checked_sub(1)
                .and_then(|before| read(&*log, before))
                .map(keccak256);
            Some(CopiedEntry {
                bytes: read(&*log, height)?,
                previous,
            })
        });
        Box::pin(async move { entry })
    }
}

fn entries(copy: &MemoryLog) -> Vec<String> {
    let entries = copy.reader().stream(0).unwrap();
    entries
        .map(|stored| String::from_utf8(stored.unwrap().bytes).unwrap())
        .collect()
}

fn open(stream: &LogStream, copy: &MemoryLog) -> Box<dyn BlockLog> {
    open_beside(stream, copy, &Leader::default())
}

/// Opens the log of a node while another one leads.
fn open_beside(stream: &LogStream, copy: &MemoryLog, leader: &Leader) -> Box<dyn BlockLog> {
    let copy = Arc::new(copy.clone());
    let leader = Arc::new(leader.clone());
    let logs = JetStreamLogs::new(
        copy,
        stream.clone(),
        leader,
        Handle::current(),
        Arc::default(),
    );
    logs.open(IDENTITY, 0).unwrap()
}

fn append(log: &mut dyn BlockLog, entry: &str) -> Result<(), AppendError> {
    block_in_place(|| log.append(log.end(), entry.as_bytes()))
}

/// Follows the stream, and retries while its answers may be outdated.
async fn follow(log: &mut dyn BlockLog) -> Result<(), LogError> {
    let deadline = std::time::Instant::now() + WAIT_TIMEOUT;
    loop {
        match block_in_place(|| log.catch_up()) {
            Err(error @ LogError::Stale { .. }) => {
                assert!(std::time::Instant::now() < deadline, "{error}")
            }
            outcome => return outcome,
        }
        sleep(POLL).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_that_does_not_follow_the_last_one_is_void_for_all_nodes() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let stream = stream(&nats).await;
    let own = MemoryLog::default();
    let mut log = open(&stream, &own);
    follow(&mut *log).await.unwrap();
    append(&mut *log, "a").unwrap();
    append(&mut *log, "b").unwrap();

    // A writer with another entry in the place of "b" sends one message for each of its next
    // entries.
    let context = jetstream::new(nats.client().await);
    for (height, previous, entry) in [(2, "lost", "void"), (3, "void", "void as well")] {
        let mut headers = HeaderMap::new();
        headers.insert(
            "Tetrad-Entry",
            format!("1 {height} 0 1 ff 0 {:x}", keccak256(previous)),
        );
        context
            .publish_with_headers(SUBJECT, headers, entry.into())
            .await
            .unwrap()
            .await
            .unwrap();
    }
    assert!(matches!(
        append(&mut *log, "c"),
        Err(AppendError::Conflict { .. })
    ));
    follow(&mut *log).await.unwrap();
    append(&mut *log, "c").unwrap();

    for known in [vec![], vec!["a"], vec!["a", "b"]] {
        let later = copy(&known);
        follow(&mut *open(&stream, &later)).await.unwrap();
        assert_eq!(entries(&later), ["a", "b", "c"], "{known:?}");
    }
    assert_eq!(entries(&own), ["a", "b", "c"]);

    // Their writer gives up its own entries.
    let other = copy(&["a", "lost", "void", "void as well"]);
    let mut log = open(&stream, &other);
    assert!(matches!(
        follow(&mut *log).await,
        Err(LogError::Forked { at: 1, .. })
    ));
    log.truncate(1).unwrap();
    follow(&mut *log).await.unwrap();
    append(&mut *log, "d").unwrap();
    assert_eq!(entries(&other), ["a", "b", "c", "d"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_lacks_entries_gets_them_from_a_copy() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let stream = stream(&nats).await;
    let own = MemoryLog::default();
    let mut log = open(&stream, &own);
    follow(&mut *log).await.unwrap();
    for entry in ["a", "b", "c"] {
        append(&mut *log, entry).unwrap();
    }
    let longer = copy(&["a", "b", "c", "d", "e"]);
    follow(&mut *open(&stream, &longer)).await.unwrap();
    follow(&mut *log).await.unwrap();
    assert_eq!(entries(&own), entries(&longer));

    // A missing entry in the middle is not stored again after the others: it would be in the wrong
    // place.
    let messages = jetstream::new(nats.client().await)
        .get_stream("LOG")
        .await
        .unwrap();
    messages.delete_message(3).await.unwrap();
    follow(&mut *open(&stream, &own)).await.unwrap();
    assert_eq!(stream.extent().await.unwrap().last, 5);
    append(&mut *log, "f").unwrap();
    let later = MemoryLog::default();
    follow(&mut *open_beside(
        &stream,
        &later,
        &Leader(Some(own.clone())),
    ))
    .await
    .unwrap();
    assert_eq!(entries(&later), entries(&own));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_without_entries_of_the_stream_belongs_to_another_cluster() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let stream = stream(&nats).await;
    let mut log = open(&stream, &MemoryLog::default());
    follow(&mut *log).await.unwrap();
    append(&mut *log, "a").unwrap();
    append(&mut *log, "b").unwrap();
    let other = copy(&["y", "z"]);
    let refused = follow(&mut *open(&stream, &other)).await.unwrap_err();
    assert!(matches!(refused, LogError::Mismatch { .. }), "{refused}");
    assert!(refused.to_string().contains("another cluster"), "{refused}");
    assert_eq!(entries(&other), ["y", "z"]);
}

/// A stream of 1,500 entries, which has lost a range of heights, and the leader's complete copy.
async fn with_losses(
    nats: &NatsServers,
    lost: std::ops::Range<u64>,
) -> (LogStream, Box<dyn BlockLog>, MemoryLog) {
    let stream = stream(nats).await;
    let own = MemoryLog::default();
    let mut log = open(&stream, &own);
    follow(&mut *log).await.unwrap();
    for height in 0..1_500 {
        append(&mut *log, &format!("entry {height}")).unwrap();
    }
    let messages = jetstream::new(nats.client().await)
        .get_stream("LOG")
        .await
        .unwrap();
    for height in lost {
        messages.delete_message(height + 1).await.unwrap();
    }
    (stream, log, own)
}

fn catch_up(log: &mut dyn BlockLog) -> Result<(), LogError> {
    block_in_place(|| log.catch_up())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_gets_entries_that_the_stream_lost_from_the_leader() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (stream, mut log, full) = with_losses(&nats, 20..1_400).await;
    let all = entries(&full);
    let first = |count: usize| copy(&all[..count].iter().map(String::as_str).collect::<Vec<_>>());

    // No node has the missing entries: this one neither continues without them nor leads.
    for known in [0, 20, 60, 1_200] {
        let alone = first(known);
        let mut log = open(&stream, &alone);
        for _ in 0..2 {
            let refused = catch_up(&mut *log).unwrap_err().to_string();
            let missing = format!("entry {} is missing before entry 1400", known.max(20));
            assert!(refused.contains(&missing), "{refused}");
        }
        assert!(matches!(
            append(&mut *log, "fork"),
            Err(AppendError::Conflict { .. })
        ));
        assert_eq!(entries(&alone), all[..known.max(20)]);
    }

    // The leader's entries do not follow the node's.
    let alone = first(20);
    let foreign = copy(&["other"; 1_500]);
    catch_up(&mut *open_beside(&stream, &alone, &Leader(Some(foreign)))).unwrap_err();
    assert_eq!(entries(&alone), all[..20]);

    let leader = Leader(Some(full.clone()));
    for known in [0, 5, 20, 60, 1_200, 1_400] {
        let later = first(known);
        catch_up(&mut *open_beside(&stream, &later, &leader)).unwrap();
        assert_eq!(entries(&later), all, "{known} known entries");
    }

    // None of them stored an entry again, and all continue.
    assert_eq!(stream.extent().await.unwrap().last, 1_500);
    append(&mut *log, "next").unwrap();
    assert_eq!(entries(&full).len(), 1_501);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_returning_node_gets_entries_that_the_stream_removed_from_the_leader() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (stream, _, full) = with_losses(&nats, 0..1_400).await;
    let away = || copy(&["entry 0", "entry 1"]);

    let alone = away();
    let refused = catch_up(&mut *open(&stream, &alone)).unwrap_err();
    assert!(
        refused.to_string().contains("Move the directory away"),
        "{refused}"
    );
    assert_eq!(entries(&alone), ["entry 0", "entry 1"]);

    let later = away();
    catch_up(&mut *open_beside(
        &stream,
        &later,
        &Leader(Some(full.clone())),
    ))
    .unwrap();
    assert_eq!(entries(&later), entries(&full));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_messages_of_a_stream_may_have_been_removed() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (stream, log, full) = with_losses(&nats, 1_200..1_500).await;
    assert_eq!(stream.heights().await.unwrap(), Some(0..1_200));
    drop(log);
    // A copy with these entries stores them again.
    let mut log = open(&stream, &full);
    catch_up(&mut *log).unwrap();
    append(&mut *log, "next").unwrap();
    let later = MemoryLog::default();
    catch_up(&mut *open(&stream, &later)).unwrap();
    assert_eq!(entries(&later), entries(&full));
}
