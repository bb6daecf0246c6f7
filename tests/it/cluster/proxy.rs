//! A TCP proxy that delays, holds and cuts connections.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{mpsc, watch},
    task::{JoinHandle, JoinSet},
    time::{Instant, sleep_until},
};

/// Chunks of at most [`CHUNK`] bytes that each direction of a connection delays. Further bytes stay
/// with the sender.
const CHUNKS: usize = 256;
const CHUNK: usize = 16 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Forward,
    Hold,
    /// Nothing is forwarded in this direction.
    HoldTo(End),
    Delay(Duration),
    Cut,
}

/// An end of a connection through a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Client,
    Server,
}

#[derive(Debug, Clone, Copy)]
struct State {
    mode: Mode,
    /// The number of cuts. A connection accepted before the latest cut is closed, even if the proxy
    /// has been restored since.
    cuts: u64,
}

/// A TCP proxy on a port of its own, closed when dropped.
pub(super) struct Proxy {
    address: SocketAddr,
    state: watch::Sender<State>,
    task: JoinHandle<()>,
}

impl Proxy {
    pub(super) async fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (state, watched) = watch::channel(State {
            mode: Mode::Forward,
            cuts: 0,
        });
        let task = tokio::spawn(accept(listener, target, watched));
        Self {
            address,
            state,
            task,
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes all connections; new ones are closed as soon as they are accepted.
    pub(super) fn cut(&self) {
        self.state.send_modify(|state| {
            *state = State {
                mode: Mode::Cut,
                cuts: state.cuts + 1,
            }
        });
    }

    /// Keeps and accepts connections, but forwards nothing until [`Proxy::restore`]. Bytes sent
    /// meanwhile arrive afterwards.
    pub(super) fn hold(&self) {
        self.set(Mode::Hold);
    }

    /// As [`Proxy::hold`], but only for bytes to this end.
    pub(super) fn hold_to(&self, end: End) {
        self.set(Mode::HoldTo(end));
    }

    /// Forwards all bytes after this delay.
    pub(super) fn delay(&self, delay: Duration) {
        self.set(Mode::Delay(delay));
    }

    /// Forwards without delay again, including held and delayed bytes.
    pub(super) fn restore(&self) {
        self.set(Mode::Forward);
    }

    fn set(&self, mode: Mode) {
        self.state.send_modify(|state| state.mode = mode);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, target: SocketAddr, state: watch::Receiver<State>) {
    // Aborted with this task.
    let mut connections = JoinSet::new();
    loop {
        let Ok((client, _)) = listener.accept().await else {
            continue;
        };
        let State { mode, cuts } = *state.borrow();
        if mode != Mode::Cut {
            connections.spawn(connect(client, target, state.clone(), cuts));
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn connect(client: TcpStream, target: SocketAddr, state: watch::Receiver<State>, cuts: u64) {
    let mut cut = state.clone();
    tokio::select! {
        _ = cut.wait_for(|state| state.cuts != cuts) => {}
        () = forward(client, target, state) => {}
    }
}

/// Forwards in both directions until both are closed, or one has failed.
async fn forward(client: TcpStream, target: SocketAddr, state: watch::Receiver<State>) {
    let Ok(server) = TcpStream::connect(target).await else {
        return;
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let ((from_client, to_client), (from_server, to_server)) =
        (client.into_split(), server.into_split());
    let there = pump(from_client, to_server, End::Server, state.clone());
    let back = pump(from_server, to_client, End::Client, state);
    let _ = tokio::try_join!(there, back);
}

async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    end: End,
    state: watch::Receiver<State>,
) -> std::io::Result<()> {
    let (sender, mut receiver) = mpsc::channel::<(Instant, Vec<u8>)>(CHUNKS);
    let read = async move {
        loop {
            let mut chunk = Vec::with_capacity(CHUNK);
            let length = from.read_buf(&mut chunk).await?;
            // An empty chunk marks the end, which is delayed like the bytes before it.
            if sender.send((Instant::now(), chunk)).await.is_err() || length == 0 {
                return Ok(());
            }
        }
    };
    let write = async move {
        while let Some((read_at, chunk)) = receiver.recv().await {
            due(read_at, end, state.clone()).await;
            if chunk.is_empty() {
                return to.shutdown().await;
            }
            to.write_all(&chunk).await?;
        }
        Ok(())
    };
    tokio::try_join!(read, write).map(|_| ())
}

/// Waits until bytes that were read at this moment may be forwarded to this end.
async fn due(read_at: Instant, end: End, mut state: watch::Receiver<State>) {
    loop {
        let mode = state.borrow_and_update().mode;
        let until = match mode {
            Mode::Forward => return,
            Mode::HoldTo(held) if held != end => return,
            Mode::Delay(delay) => Some(read_at + delay),
            Mode::Hold | Mode::HoldTo(_) | Mode::Cut => None,
        };
        tokio::select! {
            _ = state.changed() => {}
            () = async { sleep_until(until.unwrap()).await }, if until.is_some() => return,
        }
    }
}
