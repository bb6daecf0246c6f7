//! What only time shows: silence and stalls, on a clock that jumps to whatever is awaited.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use alloy_primitives::{Address, U256};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::*;
use crate::{
    chain::{Chain, ChainConfig, HistoryLimits, ManualClock, Mining, PoolLimits},
    evm::{ChainParams, Fork, Forks},
    genesis::{Cast, network_genesis},
    network::Network,
    web::ShutdownHandle,
};

/// A socket whose client takes messages until it is stuck.
struct FakeSocket {
    inbound: mpsc::UnboundedReceiver<Message>,
    sent: Arc<Mutex<Vec<(Instant, Message)>>>,
    /// How many messages the client takes. A close frame always finds its way.
    room: usize,
}

impl Stream for FakeSocket {
    type Item = Result<Message, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.inbound.poll_recv(context).map(|message| message.map(Ok))
    }
}

impl Sink<Message> for FakeSocket {
    type Error = axum::Error;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), axum::Error>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, message: Message) -> Result<(), axum::Error> {
        self.sent.lock().push((Instant::now(), message));
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), axum::Error>> {
        let sent = self.sent.lock();
        let closing = matches!(sent.last(), Some((_, Message::Close(_))));
        if sent.len() > self.room && !closing { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), axum::Error>> {
        Poll::Ready(Ok(()))
    }
}

fn market() -> (Market, Chain) {
    let network = Network::default();
    let [treasury, updater, borrower] = [1, 2, 3].map(Address::repeat_byte);
    let cast = Cast { treasury, updater, borrower, development: (Vec::new(), U256::ZERO) };
    let params = ChainParams {
        chain_id: 125,
        forks: Forks::all_from_genesis(Fork::LATEST),
        deposit_contract: Address::ZERO,
        network_precompiles: true,
        standard: false,
        signers: Default::default(),
    };
    let genesis = network_genesis(&network, &cast, 1_700_000_000, 60_000_000);
    let head = genesis.build(Arc::new(params)).expect("a first block");
    let config = ChainConfig {
        mining: Mining::Manual,
        gas_limit: 60_000_000,
        beneficiary: Address::ZERO,
        min_tip: 0,
        pool: PoolLimits::default(),
        history: HistoryLimits::default(),
        clock: Arc::new(ManualClock::at(1_700_000_000_000)),
    };
    let (chain, _writer) = Chain::spawn(head, config, None).expect("a chain");
    (Market::new(chain.clone(), Arc::new(network), 1, false, None), chain)
}

/// What a client is sent until the connection ends, each after how many seconds. The client says `words`, one every ten
/// seconds.
async fn converse(room: usize, words: Vec<Message>) -> Vec<(u64, Message)> {
    let (market, chain) = market();
    let (_handle, shutdown) = ShutdownHandle::new();
    let sent = Arc::<Mutex<Vec<_>>>::default();
    let (client, inbound) = mpsc::unbounded_channel();
    let socket = FakeSocket { inbound, sent: sent.clone(), room };
    let start = Instant::now();
    let speaker = async {
        for word in words {
            tokio::time::sleep(Duration::from_secs(10)).await;
            // The node may have had enough of it.
            let _ = client.send(word);
        }
        std::future::pending::<()>().await;
    };
    let clock = Arc::new(ManualClock::at(0));
    tokio::select! {
        () = Conversation::new(socket, market, clock, shutdown).run("1") => {}
        () = speaker => {}
    }
    chain.stop();
    let sent = std::mem::take(&mut *sent.lock());
    sent.into_iter().map(|(at, message)| (at.duration_since(start).as_secs(), message)).collect()
}

fn close_code(message: &Message) -> CloseCode {
    match message {
        Message::Close(Some(frame)) => frame.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_client_is_asked_and_then_left() {
    let sent = converse(usize::MAX, Vec::new()).await;
    let times: Vec<_> = sent.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [0, 0, 20, 40, 60]);
    assert!(matches!(sent[2].1, Message::Ping(_)) && matches!(sent[3].1, Message::Ping(_)));
    assert_eq!(close_code(&sent[4].1), close_code::POLICY);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_answers_stays() {
    let sent = converse(usize::MAX, vec![Message::Pong(Default::default()); 30]).await;
    let (last, message) = sent.last().expect("messages");
    // Silent since second 300; asked every twenty seconds, it is left at second 360.
    assert_eq!((*last, close_code(message)), (360, close_code::POLICY));
    assert_eq!(sent.iter().filter(|(_, message)| matches!(message, Message::Ping(_))).count(), 17);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_is_left_after_ten_seconds() {
    for room in [0, 1, 2] {
        let sent = converse(room, Vec::new()).await;
        let (last, message) = sent.last().expect("messages");
        // The third message is the ping after twenty seconds.
        let stuck_at = if room == 2 { 20 } else { 0 };
        assert_eq!((*last, close_code(message)), (stuck_at + 10, close_code::AGAIN), "room for {room}");
        assert_eq!(sent.len(), room + 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_closes_is_let_go() {
    let sent = converse(usize::MAX, vec![Message::Close(None)]).await;
    assert_eq!(sent.len(), 2, "a welcome and the prices");
}
