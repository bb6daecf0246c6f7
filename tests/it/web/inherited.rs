//! Sockets that a service manager has bound.

use std::{
    net::TcpListener,
    os::{fd::OwnedFd, unix::net::UnixListener},
    path::Path,
    process::{Command, Stdio},
};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::process::Running;

/// A node that is given these sockets under these names. A shell puts them where a service manager
/// does: from 3 on.
fn given(
    first: impl Into<OwnedFd>,
    second: Option<OwnedFd>,
    names: &str,
    arguments: &str,
) -> Command {
    let mut command = Command::new("sh");
    let count = 1 + u8::from(second.is_some());
    let script = format!(
        "exec 3<&0 {} </dev/null; LISTEN_PID=$$ LISTEN_FDS={count} LISTEN_FDNAMES={names} exec \"$0\" {arguments} \"$@\"",
        if second.is_some() {
            "4>&1 >/dev/null"
        } else {
            ""
        }
    );
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_tetrad")])
        .stdin(Stdio::from(first.into()));
    if let Some(second) = second {
        command.stdout(Stdio::from(second));
    }
    command
}

fn bound() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

async fn refused(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn the_node_listens_on_the_passed_sockets() {
    let ((main, at), (prices, prices_at)) = (bound(), bound());

    // The addresses in the settings are in use: the settings are ignored.
    let elsewhere = bound();
    let arguments = format!(
        "--quiet --listen {} --ws-listen {}",
        elsewhere.1,
        elsewhere.1.replace("127.0.0.1", "0.0.0.0")
    );

    let client = reqwest::Client::new();
    let mut command = given(main, Some(prices.into()), "listen:ws-listen", &arguments);
    command.stderr(Stdio::inherit());
    let directory = tempfile::tempdir().unwrap();
    let ready = directory.path().join("ready");
    let mut child = command.arg("--ready-file").arg(&ready).spawn().unwrap();
    drop(command);

    // The system accepts for a program that is not ready yet.
    let health = client
        .get(format!("http://{at}/health"))
        .send()
        .await
        .unwrap();
    assert_eq!(health.status(), 200);

    let (mut socket, _) = tokio_tungstenite::connect_async(format!("ws://{prices_at}/"))
        .await
        .unwrap();
    assert!(
        futures_util::StreamExt::next(&mut socket)
            .await
            .unwrap()
            .unwrap()
            .is_text()
    );

    Command::new("kill")
        .arg(child.id().to_string())
        .status()
        .unwrap();
    assert!(child.wait().unwrap().success());
}

#[tokio::test]
async fn a_single_socket_without_a_name_is_the_main_one() {
    for name in ["", "tetrad.socket", "listen"] {
        let (main, at) = bound();
        let node = Running::run(given(main, None, name, "--quiet --ws-listen off")).await;
        assert!(
            node.ready["rpc"].as_str().unwrap().contains(&at),
            "{}",
            node.ready
        );
        assert_eq!(node.chain_id().await, "0x7d");
        assert!(node.end("-TERM").0);
    }
}

#[tokio::test]
async fn a_unix_socket_still_belongs_to_the_service_manager() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let node = Running::run(given(
        listener,
        None,
        "listen-unix",
        "--quiet --listen 127.0.0.1:0 --ws-listen off",
    ))
    .await;
    assert!(ask(&path).await.starts_with("HTTP/1.1 200"));
    assert!(node.end("-TERM").0);
    assert!(path.exists());
}

async fn ask(path: &Path) -> String {
    let mut stream = tokio::net::UnixStream::connect(path).await.unwrap();
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn unusable_sockets_are_refused_by_name() {
    let error = refused(given(bound().0, None, "web", "--quiet")).await;
    assert!(
        error.contains("`web`") && error.contains("ws-listen"),
        "{error}"
    );
    let twice = given(
        bound().0,
        Some(bound().0.into()),
        "listen:listen",
        "--quiet",
    );
    assert!(refused(twice).await.contains("`listen`"));
    let file = std::fs::File::open(env!("CARGO_MANIFEST_DIR")).unwrap();
    let error = refused(given(file, None, "listen", "--quiet")).await;
    assert!(
        error.contains("passed for listen") && error.contains("not a socket"),
        "{error}"
    );
    let mut many = crate::support::process::tetrad(&["--quiet"]);
    let error = refused({
        many.env("LISTEN_FDS", "4000000000");
        many
    })
    .await;
    assert!(
        error.contains("LISTEN_FDS") && error.contains("4000000000"),
        "{error}"
    );
}
