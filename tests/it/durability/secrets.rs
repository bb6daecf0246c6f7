//! Secret files of a data directory, and files left by killed processes.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use tetrad::{Config, config::Profile};

use super::commands::chain;
use crate::support::{chain::seal, node_with, process::Running};

fn production(directory: &Path) -> impl FnOnce(&mut Config) {
    let directory = directory.to_owned();
    move |config| {
        config.profile = Profile::Production;
        config.accounts = 0;
        config.data_dir = Some(directory);
    }
}

fn mode(file: &Path) -> u32 {
    fs::metadata(file).unwrap().permissions().mode() & 0o777
}

fn set_mode(file: &Path, mode: u32) {
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

/// The keys that a production node generates.
const KEYS: [&str; 3] = ["treasury.key", "updater.key", "borrower.key"];

/// Checks that a copy has the modes of the original.
fn check_modes(copy: &Path) {
    for key in KEYS {
        assert_eq!(mode(&copy.join(key)), 0o600, "{key} in {}", copy.display());
    }
    assert_eq!(mode(&copy.join("log-00000000000000000000")), 0o664);
}

#[tokio::test]
async fn backup_and_restore_preserve_file_permissions() {
    let place = tempfile::tempdir().unwrap();
    let live = place.path().join("live");
    let copy = place.path().join("copy");
    node_with(production(&live)).await.end().await;
    assert!(KEYS.iter().all(|key| mode(&live.join(key)) == 0o600));
    set_mode(&live.join("chain.json"), 0o640);
    set_mode(&live.join("log-00000000000000000000"), 0o664);

    assert!(chain(&live, &["backup", copy.to_str().unwrap()]).0);
    check_modes(&copy);

    let (ok, printed) = chain(&live, &["restore", copy.to_str().unwrap()]);
    assert!(ok, "{printed}");
    check_modes(&live);
    assert!(
        KEYS.iter()
            .all(|key| mode(&live.join("replaced-1").join(key)) == 0o600)
    );

    // A copy that was made read-only is restored to a writable directory.
    for entry in fs::read_dir(&copy).unwrap() {
        set_mode(&entry.unwrap().path(), 0o400);
    }
    assert!(chain(&live, &["restore", copy.to_str().unwrap()]).0);
    let node = node_with(production(&live)).await;
    seal(node.chain(), 1).await.unwrap();
    node.end().await;
}

#[tokio::test]
async fn a_start_warns_of_keys_readable_by_other_users() {
    let place = tempfile::tempdir().unwrap();
    let live = place.path().join("live");
    let arguments = [
        "--profile",
        "production",
        "--data-dir",
        live.to_str().unwrap(),
    ];
    let log = Running::start(&arguments).await.log();
    assert!(!log.contains("others can read"), "{log}");
    set_mode(&live.join("updater.key"), 0o644);
    let log = Running::start(&arguments).await.log();
    let warnings: Vec<_> = log
        .lines()
        .filter(|line| line.contains("others can read this secret"))
        .collect();
    assert!(
        matches!(warnings[..], [line] if line.contains("updater.key") && line.contains("644")),
        "{log}"
    );
}

#[tokio::test]
async fn unfinished_files_of_a_killed_process_are_removed_at_the_next_start() {
    let place = tempfile::tempdir().unwrap();
    node_with(production(place.path())).await.end().await;
    let drafts = [
        "draft-checkpoint-00000000000000000007",
        "draft-index-00000000000000000000",
        "draft-treasury.key",
    ];
    for draft in drafts {
        fs::write(place.path().join(draft), "half of it").unwrap();
    }
    // A backup reads while another process writes, and changes nothing.
    assert!(
        chain(
            place.path(),
            &["backup", place.path().join("copy").to_str().unwrap()]
        )
        .0
    );
    assert!(drafts.iter().all(|draft| place.path().join(draft).exists()));
    node_with(production(place.path())).await.end().await;
    assert!(!drafts.iter().any(|draft| place.path().join(draft).exists()));
}
