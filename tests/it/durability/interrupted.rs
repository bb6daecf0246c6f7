//! Interrupted copies of a chain, which must never be mistaken for a new, empty chain.

use std::{fs, io, path::Path, sync::Arc};

use alloy_primitives::{Address, B256};
use tetrad::{Config, Node};
use tetrad_chain::{Mining, Recovered, verify};
use tetrad_store::{
    storage::{Directory, Storage},
    store::{backup, export, import, restore},
};

use super::{
    commands::chain,
    disk::Disk,
    kept_in,
    ledger::{nonce, recover, send, start, transfer},
};
use crate::support::node_with;

/// A disk with a chain of this many blocks, and the hash of the newest.
async fn disk_with(blocks: u64) -> (Disk, B256) {
    let disk = Disk::new(blocks);
    let (chain, writer) = start(recover(Arc::new(disk.clone())).unwrap(), Mining::Instant);
    for _ in 0..blocks {
        send(
            &chain,
            transfer(0, nonce(&chain, 0), Address::repeat_byte(9)),
        )
        .await
        .unwrap();
    }
    let newest = chain.head().block.hash;
    chain.stop();
    tokio::task::spawn_blocking(move || writer.join())
        .await
        .unwrap();
    (disk, newest)
}

fn head(recovered: Recovered) -> B256 {
    recovered.head.block.hash
}

fn newest(storage: &Arc<dyn Storage>) -> Result<B256, String> {
    recover(storage.clone())
        .map(head)
        .map_err(|error| error.to_string())
}

/// The error with which a node fails to start on a directory.
async fn refusal(directory: &Path) -> String {
    let mut config = Config::test();
    config.data_dir = Some(directory.to_owned());
    Node::spawn(config)
        .await
        .err()
        .expect("a refusal")
        .to_string()
}

/// Fails `act` on a copy of `disk` at each changing call in turn, and passes the disk as the next
/// process finds it after a kill and after a power failure, until `act` succeeds.
fn at_every_call(
    disk: &Disk,
    act: impl Fn(&Arc<dyn Storage>) -> bool,
    mut check: impl FnMut(u64, Disk),
) {
    for calls in 0.. {
        let target = disk.kill();
        target.fail_after(calls);
        let storage: Arc<dyn Storage> = Arc::new(target.clone());
        let done = act(&storage);
        check(calls, target.kill());
        for _ in 0..4 {
            check(calls, target.power_failure());
        }
        if done {
            assert!(calls > 20, "only {calls} calls could fail");
            return;
        }
    }
}

/// No command accepts a directory with an interrupted restore, and a backup does not replace its
/// content.
fn assert_unusable(storage: &Arc<dyn Storage>, copy: &Disk, calls: u64) {
    let errors = [
        verify(&kept_in(storage.clone())).unwrap_err().to_string(),
        export(&kept_in(storage.clone()), &mut io::sink())
            .unwrap_err()
            .to_string(),
        backup(&kept_in(storage.clone()), &Disk::new(1))
            .unwrap_err()
            .to_string(),
    ];
    for error in errors {
        assert!(error.contains("interrupted"), "call {calls}: {error}");
    }

    let stays = backup(&kept_in(Arc::new(copy.clone())), &**storage)
        .unwrap_err()
        .to_string();
    assert!(
        stays.contains("interrupted") || stays.contains("not empty"),
        "call {calls}: {stays}"
    );
}

#[tokio::test]
async fn an_interrupted_restore_leaves_the_old_chain_the_new_one_or_a_refusal() {
    let ((old, before), (copy, after)) = (disk_with(30).await, disk_with(12).await);
    let mut refused = 0;
    let mut kept = 0;
    let mut replaced = 0;
    let act =
        |target: &Arc<dyn Storage>| restore(&kept_in(Arc::new(copy.clone())), &**target).is_ok();

    at_every_call(&old, act, |calls, left| {
        let storage: Arc<dyn Storage> = Arc::new(left.kill());
        match newest(&storage) {
            Ok(hash) if hash == before => kept += 1,
            Ok(hash) if hash == after => replaced += 1,
            Ok(hash) => panic!("call {calls}: a third chain, {hash}"),
            Err(error) => {
                refused += 1;
                assert!(
                    error.contains("interrupted") && error.contains("repeat"),
                    "call {calls}: {error}"
                );
                assert_unusable(&storage, &copy, calls);
            }
        }

        // The command can be repeated, and the repetition can be interrupted.
        let again: Arc<dyn Storage> = Arc::new(left);
        let complete = newest(&again) == Ok(after);
        restore(&kept_in(Arc::new(copy.clone())), &*again)
            .unwrap_or_else(|error| panic!("call {calls}, repeated: {error}"));
        assert_eq!(newest(&again), Ok(after), "call {calls}, repeated");

        let first = again.folder("replaced-1").unwrap();
        assert_eq!(
            newest(&first),
            Ok(before),
            "call {calls}: the replaced chain"
        );
        assert_eq!(
            again.folders().unwrap().len(),
            if complete { 2 } else { 1 },
            "call {calls}"
        );
        verify(&kept_in(again)).unwrap();
    });
    assert!(
        refused > 20 && kept > 0 && replaced > 0,
        "{refused} {kept} {replaced}"
    );
}

#[tokio::test]
async fn the_chain_replaced_by_an_interrupted_restore_can_be_restored() {
    let ((old, before), (copy, _)) = (disk_with(30).await, disk_with(12).await);
    for calls in 0..200 {
        let target = old.kill();
        target.fail_after(calls);
        if restore(&kept_in(Arc::new(copy.clone())), &target).is_ok() {
            return;
        }
        let again: Arc<dyn Storage> = Arc::new(target.kill());
        // While files are being moved, the backup must be used; the program finishes the move when
        // it opens the directory.
        if let Ok(replaced) = again.folder("replaced-1")
            && newest(&replaced).is_ok_and(|hash| hash == before)
        {
            restore(&kept_in(replaced), &*again).unwrap();
            assert_eq!(newest(&again), Ok(before));
        }
    }
    panic!("the restore never succeeded");
}

/// A copy into a directory. Returns false if it failed.
type Attempt<'a> = &'a dyn Fn(&Arc<dyn Storage>) -> bool;

#[tokio::test]
async fn an_interrupted_backup_or_import_is_refused_until_it_is_repeated() {
    let (live, hash) = disk_with(30).await;
    let mut file = Vec::new();
    export(&kept_in(Arc::new(live.clone())), &mut file).unwrap();

    let by_backup =
        |target: &Arc<dyn Storage>| backup(&kept_in(Arc::new(live.clone())), &**target).is_ok();
    let by_import =
        |target: &Arc<dyn Storage>| import(&kept_in(target.clone()), &mut &file[..]).is_ok();
    let copies: [Attempt<'_>; 2] = [&by_backup, &by_import];

    for (name, copy) in ["backup", "import"].into_iter().zip(copies) {
        at_every_call(&Disk::new(3), copy, |calls, left| {
            let storage: Arc<dyn Storage> = Arc::new(left);
            if storage.names().unwrap().is_empty() {
                return;
            }
            match newest(&storage) {
                Ok(found) => assert_eq!(found, hash, "{name}, call {calls}"),
                Err(error) => {
                    assert!(
                        error.contains("interrupted") && error.contains("repeat"),
                        "{name}, call {calls}: {error}"
                    );
                    assert!(
                        copy(&storage),
                        "{name}, call {calls}: it cannot be repeated"
                    );
                    assert_eq!(newest(&storage), Ok(hash), "{name}, call {calls}");
                }
            }
        });
    }
}

#[test]
fn an_interrupted_first_start_can_be_repeated() {
    let begin = |target: &Arc<dyn Storage>| recover(target.clone()).is_ok();
    let first = newest(&(Arc::new(Disk::new(1)) as Arc<dyn Storage>)).unwrap();
    for calls in 0..100 {
        let disk = Disk::new(1);
        disk.fail_after(calls);
        let storage: Arc<dyn Storage> = Arc::new(disk.clone());
        let done = begin(&storage);
        for left in [disk.kill(), disk.power_failure(), disk.power_failure()] {
            assert_eq!(
                newest(&(Arc::new(left) as Arc<dyn Storage>)),
                Ok(first),
                "call {calls}"
            );
        }
        if done {
            return;
        }
    }
    panic!("the start never succeeded");
}

/// Seals this many blocks with a node on a directory.
async fn seal_in(directory: &Path, blocks: u64) {
    let node = node_with(|config| config.data_dir = Some(directory.to_owned())).await;
    for _ in 0..blocks {
        node.mine().await;
    }
    node.end().await;
}

#[tokio::test]
async fn nodes_and_commands_refuse_a_directory_with_a_killed_restore() {
    let place = tempfile::tempdir().unwrap();
    let live = place.path().join("live");
    let copy = place.path().join("copy");
    let spare = place.path().join("spare");
    seal_in(&copy, 3).await;
    seal_in(&live, 7).await;

    // The head of the log does not match its checksum, so the copy ends before `chain.json`, as if
    // it was killed there.
    let log = copy.join("log-00000000000000000000");
    let content = fs::read(&log).unwrap();
    fs::write(&log, [&[content[0] ^ 1], &content[1..]].concat()).unwrap();
    restore(
        &kept_in(Arc::new(Directory::new(&copy).unwrap())),
        &Directory::new(&live).unwrap(),
    )
    .unwrap_err();
    fs::write(&log, content).unwrap();

    let error = refusal(&live).await;
    assert!(
        error.contains("`tetrad chain restore` was interrupted") && error.contains("replaced-1"),
        "{error}"
    );

    let spare = spare.to_str().unwrap();
    for arguments in [
        &["verify"][..],
        &["compact"],
        &["repair"],
        &["export", spare],
        &["backup", spare],
        &[
            "import",
            live.join("replaced-1/chain.json").to_str().unwrap(),
        ],
    ] {
        let (ok, text) = chain(&live, arguments);
        assert!(!ok, "{arguments:?}: {text}");
        assert!(
            text.contains("was interrupted") || arguments[0] == "import",
            "{arguments:?}: {text}"
        );
    }

    assert!(
        !live.join("chain.json").exists(),
        "no new chain was created"
    );

    // Both chains can be restored: the replaced one, and the backup.
    let (ok, text) = chain(
        &live,
        &["restore", live.join("replaced-1").to_str().unwrap()],
    );
    assert!(ok && text.contains("up to block 7"), "{text}");
    let (ok, text) = chain(&live, &["restore", copy.to_str().unwrap()]);
    assert!(
        ok && text.contains("up to block 3") && text.contains("replaced-2"),
        "{text}"
    );
    seal_in(&live, 1).await;
}

#[tokio::test]
async fn a_failed_export_leaves_the_file_unchanged() {
    let place = tempfile::tempdir().unwrap();
    let live = place.path().join("live");
    let file = place.path().join("chain.tetrad");
    node_with(|config| config.data_dir = Some(live.clone()))
        .await
        .end()
        .await;

    assert!(chain(&live, &["export", file.to_str().unwrap()]).0);
    let before = fs::read(&file).unwrap();

    for name in fs::read_dir(&live)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if name
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("checkpoint-")
        {
            fs::remove_file(name).unwrap();
        }
    }

    let (ok, text) = chain(&live, &["export", file.to_str().unwrap()]);
    assert!(!ok, "{text}");
    assert!(fs::read(&file).unwrap() == before);
    assert_eq!(
        fs::read_dir(place.path()).unwrap().count(),
        2,
        "no other file is left"
    );
}

#[tokio::test]
async fn a_directory_with_only_a_replaced_chain_does_not_become_a_new_one() {
    let place = tempfile::tempdir().unwrap();
    let live = place.path().join("live");
    node_with(|config| config.data_dir = Some(live.join("replaced-1")))
        .await
        .end()
        .await;
    let error = refusal(&live).await;
    assert!(
        error.contains("chain.json is missing") && error.contains("replaced-1"),
        "{error}"
    );
    let (ok, text) = chain(
        &live,
        &["restore", live.join("replaced-1").to_str().unwrap()],
    );
    assert!(ok, "{text}");
    node_with(|config| config.data_dir = Some(live.clone()))
        .await
        .end()
        .await;
}
