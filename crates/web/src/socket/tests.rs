//! Silence and stalls of clients, on a clock that jumps to the next deadline.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{Sink, Stream};
use parking_lot::Mutex;
use tetrad_stdx::calendar::DAY;
use tokio::{sync::mpsc, time::Instant};
use tokio_tungstenite::tungstenite::{
    self, Message,
    protocol::frame::coding::{CloseCode, Data, OpCode},
};

use super::{
    task::{FEW_IN_FLIGHT, FRAME, MAX_IN_FLIGHT, SocketTask},
    *,
};
use crate::{Budget, Capacity, Faults, Flow, ShutdownHandle};

/// A socket whose client takes messages until it is stuck.
struct FakeSocket {
    inbound: mpsc::UnboundedReceiver<Message>,
    sent: Arc<Mutex<Vec<(Instant, Message)>>>,
    /// The number of messages that the client takes. A close frame always finds its way.
    room: usize,
}

impl Stream for FakeSocket {
    type Item = Result<Message, tungstenite::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.inbound
            .poll_recv(context)
            .map(|message| message.map(Ok))
    }
}

impl Sink<Message> for FakeSocket {
    type Error = tungstenite::Error;

    fn poll_ready(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Result<(), tungstenite::Error>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, message: Message) -> Result<(), tungstenite::Error> {
        self.sent.lock().push((Instant::now(), message));
        Ok(())
    }

    fn poll_flush(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Result<(), tungstenite::Error>> {
        let sent = self.sent.lock();
        let closing = matches!(sent.last(), Some((_, Message::Close(_))));
        if sent.len() > self.room && !closing {
            Poll::Pending
        } else {
            Poll::Ready(Ok(()))
        }
    }

    fn poll_close(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Result<(), tungstenite::Error>> {
        Poll::Ready(Ok(()))
    }
}

/// Greets, reports `events` events in a row, and takes a day to answer.
struct Hermit<const EVERY_EVENT: bool> {
    events: usize,
}

impl<const EVERY_EVENT: bool> SocketProtocol for Hermit<EVERY_EVENT> {
    type Event = ();

    const EVERY_EVENT: bool = EVERY_EVENT;

    fn greeting(&mut self) -> Option<Utf8Bytes> {
        Some("greeting".into())
    }

    fn receive(&mut self, _: Utf8Bytes) -> SocketReply {
        SocketReply::Later(Box::pin(async {
            tokio::time::sleep(Duration::from_secs(DAY)).await;
            Utf8Bytes::from("answer").into()
        }))
    }

    async fn next_event(&mut self) -> Option<()> {
        match self.events.checked_sub(1) {
            Some(events) => self.events = events,
            None => std::future::pending().await,
        }
        Some(())
    }

    fn messages<'a>(
        &'a self,
        _: &'a (),
    ) -> impl Iterator<Item = Result<Option<SocketMessage>, AnswerError>> + Send + 'a {
        std::iter::once(Ok(Some(Utf8Bytes::from("event").into())))
    }
}

fn sockets() -> (ShutdownHandle, WebSockets) {
    let (handle, shutdown) = ShutdownHandle::new();
    let limits = SocketLimits {
        max_message: 1 << 20,
        buffer: 4 << 10,
        messages: None,
        per_client: None,
        write_timeout: WRITE_TIMEOUT,
    };
    (handle, WebSockets::new("test", None, limits, shutdown))
}

/// The messages that a client receives until the connection ends, with their times in seconds, and
/// the number of connections that were cut off. The client says `words`, one every ten seconds.
async fn converse(
    protocol: impl SocketProtocol,
    room: usize,
    words: impl IntoIterator<Item = Message>,
) -> (Vec<(u64, Message)>, u64) {
    converse_within(Arc::default(), protocol, room, words).await
}

/// The same on a connection with this state.
async fn converse_within(
    flow: Arc<Flow>,
    protocol: impl SocketProtocol,
    room: usize,
    words: impl IntoIterator<Item = Message>,
) -> (Vec<(u64, Message)>, u64) {
    let (_handle, sockets) = sockets();
    let sent = Arc::<Mutex<Vec<_>>>::default();
    let (client, inbound) = mpsc::unbounded_channel();
    let socket = FakeSocket {
        inbound,
        sent: sent.clone(),
        room,
    };

    let start = Instant::now();

    let speaker = async {
        for word in words {
            tokio::time::sleep(Duration::from_secs(10)).await;
            // The node may have had enough of it.
            let _ = client.send(word);
        }
        std::future::pending::<()>().await;
    };

    tokio::select! {
        () = SocketTask::new(socket, protocol, flow, sockets.clone()).run() => {}
        () = speaker => {}
    }

    let sent = std::mem::take(&mut *sent.lock());
    let sent = sent
        .into_iter()
        .map(|(at, message)| (at.duration_since(start).as_secs(), message))
        .collect();
    (sent, sockets.cut())
}

fn close_code(message: &Message) -> CloseCode {
    match message {
        Message::Close(Some(frame)) => frame.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_client_is_asked_and_then_left() {
    let (sent, cut) = converse(Hermit::<false> { events: 1 }, usize::MAX, []).await;
    let times: Vec<_> = sent.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [0, 0, 20, 40, 60]);
    assert!(matches!(sent[2].1, Message::Ping(_)) && matches!(sent[3].1, Message::Ping(_)));
    assert_eq!(close_code(&sent[4].1), CloseCode::Policy);
    assert_eq!(cut, 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_answers_stays() {
    let pongs = vec![Message::Pong(Default::default()); 30];
    let (sent, _) = converse(Hermit::<false> { events: 1 }, usize::MAX, pongs).await;
    let (last, message) = sent.last().expect("messages");
    // Silent since second 300; asked every twenty seconds, it is left at second 360.
    assert_eq!((*last, close_code(message)), (360, CloseCode::Policy));
    assert_eq!(
        sent.iter()
            .filter(|(_, message)| matches!(message, Message::Ping(_)))
            .count(),
        17
    );
}

/// While as many requests are under way as may be, nothing is read, and whether the client is alive
/// is not known.
#[tokio::test(start_paused = true)]
async fn a_client_that_is_not_read_is_not_taken_for_silent() {
    let requests = vec![Message::text("request"); MAX_IN_FLIGHT + 100];
    let (sent, _) = converse(Hermit::<false> { events: 0 }, usize::MAX, requests).await;
    assert!(
        sent.iter()
            .any(|(at, message)| *at >= DAY && *message == Message::text("answer"))
    );
    assert!(
        sent.last()
            .is_some_and(|(at, message)| *at > DAY && close_code(message) == CloseCode::Policy)
    );
}

/// The times at which a client that sends more requests than are in flight gets its answers.
async fn times_of_answers(flow: &Arc<Flow>) -> Vec<u64> {
    let requests = vec![Message::text("request"); FEW_IN_FLIGHT + 2];
    // The client is not silent until all are answered.
    let pongs = vec![Message::Pong(Default::default()); 3 * DAY as usize / 10];
    let (sent, _) = converse_within(
        flow.clone(),
        Hermit::<false> { events: 0 },
        usize::MAX,
        [requests, pongs].concat(),
    )
    .await;

    sent.into_iter()
        .filter(|(_, message)| *message == Message::text("answer"))
        .map(|(at, _)| at)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn where_memory_is_scarce_few_messages_are_in_progress() {
    let budget = Budget::new(1 << 20);
    let capacity = Capacity {
        budget: budget.clone(),
        ..Capacity::default()
    };
    let flow = Arc::new(Flow::new(capacity, Faults::default()));

    let times: Vec<_> = (1..=FEW_IN_FLIGHT as u64 + 2)
        .map(|n| DAY + 10 * n)
        .collect();
    assert_eq!(times_of_answers(&flow).await, times);

    let all = budget.hold(1 << 20).await.expect("room");
    let late = times_of_answers(&flow).await;
    assert_eq!(late[..FEW_IN_FLIGHT], times[..FEW_IN_FLIGHT]);
    // Those that have to wait begin when one of the others ends.
    assert_eq!(late[FEW_IN_FLIGHT..], [2 * DAY + 10, 2 * DAY + 20]);

    // Or as soon as there is memory.
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(100)).await;
        drop(all);
    });
    assert_eq!(
        times_of_answers(&flow).await[FEW_IN_FLIGHT..],
        [DAY + 100, DAY + 100]
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_is_left_after_ten_seconds() {
    for room in [0, 1, 2] {
        let (sent, cut) = converse(Hermit::<false> { events: 1 }, room, []).await;
        let (last, message) = sent.last().expect("messages");
        // The third message is the ping after twenty seconds.
        let stuck_at = if room == 2 { 20 } else { 0 };
        assert_eq!(
            (*last, close_code(message)),
            (stuck_at + 10, CloseCode::Again),
            "room for {room}"
        );
        assert_eq!((sent.len(), cut), (room + 2, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_misses_events_that_it_is_owed_is_too_slow() {
    for (room, code) in [
        (0, CloseCode::Again),
        (1, CloseCode::Policy),
        (2, CloseCode::Again),
    ] {
        let (sent, cut) = converse(Hermit::<true> { events: 1 }, room, []).await;
        assert_eq!(
            (close_code(&sent.last().expect("messages").1), cut),
            (code, 1),
            "room for {room}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_closes_is_let_go() {
    let (sent, cut) = converse(
        Hermit::<false> { events: 1 },
        usize::MAX,
        [Message::Close(None)],
    )
    .await;
    assert_eq!((sent.len(), cut), (2, 0), "a greeting and an event");
}

/// Events without end leave room for what the client says.
#[tokio::test(start_paused = true)]
async fn a_client_is_heard_beside_events_without_end() {
    struct Chatterbox;

    impl SocketProtocol for Chatterbox {
        type Event = ();

        fn receive(&mut self, _: Utf8Bytes) -> SocketReply {
            SocketReply::Now(Utf8Bytes::from("answer").into())
        }

        async fn next_event(&mut self) -> Option<()> {
            Some(())
        }

        fn messages<'a>(
            &'a self,
            _: &'a (),
        ) -> impl Iterator<Item = Result<Option<SocketMessage>, AnswerError>> + Send + 'a {
            std::iter::once(Ok(Some(Utf8Bytes::from("event").into())))
        }
    }

    let (_handle, sockets) = sockets();
    let sent = Arc::<Mutex<Vec<_>>>::default();
    let (client, inbound) = mpsc::unbounded_channel();

    let socket = FakeSocket {
        inbound,
        sent: sent.clone(),
        room: usize::MAX,
    };

    client.send(Message::text("request")).expect("a listener");
    client.send(Message::Close(None)).expect("a listener");
    SocketTask::new(socket, Chatterbox, Arc::default(), sockets)
        .run()
        .await;

    let sent = sent.lock();
    assert!(
        sent.iter()
            .any(|(_, message)| *message == Message::text("answer"))
    );
    assert!(sent.len() < 100, "{} messages", sent.len());
}

#[tokio::test]
async fn others_run_while_the_messages_of_an_event_are_searched() {
    struct Searcher {
        others_ran: Arc<AtomicBool>,
    }

    impl SocketProtocol for Searcher {
        type Event = ();

        fn receive(&mut self, _: Utf8Bytes) -> SocketReply {
            SocketReply::Nothing
        }

        async fn next_event(&mut self) -> Option<()> {
            if self.others_ran.load(Ordering::Relaxed) {
                std::future::pending().await
            }
            Some(())
        }

        fn messages<'a>(
            &'a self,
            _: &'a (),
        ) -> impl Iterator<Item = Result<Option<SocketMessage>, AnswerError>> + Send + 'a {
            (0..).map_while(|count| {
                assert!(count < 1_000, "nobody else runs");
                std::thread::sleep(Duration::from_millis(1));
                (!self.others_ran.load(Ordering::Relaxed)).then_some(Ok(None))
            })
        }
    }

    let (_handle, sockets) = sockets();
    let (client, inbound) = mpsc::unbounded_channel();
    let socket = FakeSocket {
        inbound,
        sent: Arc::default(),
        room: usize::MAX,
    };

    let others_ran = Arc::<AtomicBool>::default();
    let searcher = Searcher {
        others_ran: others_ran.clone(),
    };

    let searching = tokio::spawn(SocketTask::new(socket, searcher, Arc::default(), sockets).run());
    tokio::spawn(async move { others_ran.store(true, Ordering::Relaxed) });
    client.send(Message::Close(None)).expect("a listener");
    searching.await.expect("others ran");
}

/// Answers a number with a text of this length.
struct Storyteller;

impl SocketProtocol for Storyteller {
    type Event = ();

    fn receive(&mut self, length: Utf8Bytes) -> SocketReply {
        let length = length.parse().expect("a length");
        let story: String = ('a'..='z').cycle().take(length).collect();
        SocketReply::Now(Utf8Bytes::from(story).into())
    }

    async fn next_event(&mut self) -> Option<()> {
        std::future::pending().await
    }

    fn messages<'a>(
        &'a self,
        _: &'a (),
    ) -> impl Iterator<Item = Result<Option<SocketMessage>, AnswerError>> + Send + 'a {
        std::iter::empty()
    }
}

/// Long messages are not copied as a whole for the connection, nor moved with each part that the
/// client takes.
#[tokio::test(start_paused = true)]
async fn a_long_message_is_sent_in_several_frames() {
    for (length, frames) in [
        (FRAME, 1),
        (FRAME + 1, 2),
        (5 * FRAME / 2, 3),
        (4 * FRAME, 4),
    ] {
        let words = [Message::text(length.to_string()), Message::Close(None)];
        let (sent, _) = converse(Storyteller, usize::MAX, words).await;

        let sent = sent.into_iter().map(|(_, message)| message);
        let sent: Vec<_> = sent
            .filter(|message| !matches!(message, Message::Ping(_)))
            .collect();
        assert_eq!(sent.len(), frames, "{length}");

        if let [Message::Text(whole)] = &sent[..] {
            assert_eq!(whole.len(), length);
            continue;
        }

        let mut story = Vec::new();
        for (at, message) in sent.iter().enumerate() {
            let Message::Frame(frame) = message else {
                panic!("{message:?}")
            };
            let kind = if at == 0 { Data::Text } else { Data::Continue };
            assert_eq!(frame.header().opcode, OpCode::Data(kind));
            assert_eq!(frame.header().is_final, at + 1 == frames);
            assert!(frame.payload().len() <= FRAME);
            story.extend_from_slice(frame.payload());
        }

        assert!(
            story.iter().copied().eq((b'a'..=b'z').cycle().take(length)),
            "{length}"
        );
    }
}
