//! The task of one connection: reads messages, writes replies and events, and detects clients that
//! are gone.

use std::{
    collections::VecDeque, convert::Infallible, future::Future, pin::pin, sync::Arc, time::Duration,
};

use axum::body::Bytes;
use futures_util::{
    FutureExt, Sink, SinkExt, Stream, StreamExt,
    future::{BoxFuture, ready},
    stream::FuturesUnordered,
};
use governor::{DefaultDirectRateLimiter, RateLimiter};
use tokio::{
    task::yield_now,
    time::{Instant, interval_at, sleep, sleep_until, timeout},
};
use tokio_tungstenite::tungstenite::{
    self, Message, Utf8Bytes,
    protocol::frame::{
        Frame,
        coding::{Data, OpCode},
    },
};

use super::{
    SocketMessage, SocketProtocol, SocketReply, WebSockets,
    ending::{CLOSING, Ending},
};
use crate::{AnswerError, Budget, Flow, Held, Shutdown, budget::UNCOUNTED, faults::FaultTarget};

/// Most messages of one connection that are processed at once. Reading pauses at this number.
pub(super) const MAX_IN_FLIGHT: usize = 64;
/// Messages in progress that count only if they are long.
pub(super) const FEW_IN_FLIGHT: usize = 8;
/// The bytes that each further one counts with, since its own may be too few to be counted, and
/// those of its answer as well.
const SHORT_MESSAGE: usize = 2 * UNCOUNTED;
/// Interval at which a connection that reads nothing for lack of memory looks again.
const LOOK_FOR_ROOM: Duration = Duration::from_millis(50);
/// Most messages that faults hold back. Reading pauses at half of them.
const MAX_DELAYED: usize = 4_096;
/// Most bytes of a frame that is sent. The library copies frames, and moves what is left of one
/// whenever the client takes a part of it.
pub(super) const FRAME: usize = 64 << 10;
/// Interval of pings.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// The time for which a client may send nothing, not even the answer to a ping.
const SILENCE: Duration = Duration::from_secs(60);
/// One of this number of turns is not for events, so that a stream of events does not starve the
/// rest.
const TURNS: u32 = 16;

/// The time for which one event may occupy the thread before others run.
const TURN: Duration = Duration::from_millis(2);

/// One connection.
pub(super) struct SocketTask<S, P> {
    wire: Wire<S>,
    protocol: P,
    flow: Arc<Flow>,
    sockets: WebSockets,
    limiter: Option<DefaultDirectRateLimiter>,
    /// The client as faults distinguish it; none if no fault concerns the interface.
    target: Option<FaultTarget>,
    /// Whether a client that sends nothing more still gets its answers.
    answers_after_end: bool,
}

/// The stream of messages.
struct Wire<S> {
    socket: S,
    write_timeout: Duration,
    shutdown: Shutdown,
    /// Whether reading failed, so that nothing more can be read.
    unreadable: bool,
    /// Messages that faults hold back, oldest first.
    delayed: VecDeque<DelayedMessage>,
}

/// A message to be written later.
struct DelayedMessage {
    due: Instant,
    text: Utf8Bytes,
    /// The ending if the client does not take it in time.
    missed: Ending,
    _held: Held,
}

impl<S, P> SocketTask<S, P>
where
    S: Stream<Item = Result<Message, tungstenite::Error>>
        + Sink<Message, Error = tungstenite::Error>
        + Unpin
        + Send,
    P: SocketProtocol,
{
    pub(super) fn new(socket: S, protocol: P, flow: Arc<Flow>, sockets: WebSockets) -> Self {
        let limits = *sockets.limits();
        let wire = Wire {
            socket,
            write_timeout: limits.write_timeout,
            shutdown: sockets.shutdown(),
            unreadable: false,
            delayed: VecDeque::new(),
        };

        Self {
            wire,
            protocol,
            flow,
            sockets,
            limiter: limits.messages.map(RateLimiter::direct),
            target: None,
            answers_after_end: false,
        }
    }

    /// Has clients that send nothing more get the answers to what they have sent, as programs do
    /// that write requests to a pipe. A WebSocket ends with a frame instead.
    pub(super) fn with_answers_after_end(self) -> Self {
        Self {
            answers_after_end: true,
            ..self
        }
    }

    /// Sets the client as faults distinguish it.
    pub(super) fn with_fault_target(self, target: Option<FaultTarget>) -> Self {
        Self { target, ..self }
    }

    /// Serves the connection until either side ends it.
    pub(super) async fn run(mut self) {
        let Err(ending) = self.serve().await;
        if ending.is_slow() {
            self.sockets.count_cut();
        }
        self.close(ending).await;
    }

    async fn serve(&mut self) -> Result<Infallible, Ending> {
        if let Some(greeting) = self.protocol.greeting() {
            self.reply(greeting.into()).await?;
        }

        let mut answers = FuturesUnordered::new();
        let mut held_for_answers = Held::default();
        // The number of answers for which events wait.
        let mut awaited = 0_usize;

        let mut ping = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
        let mut heard = Instant::now();

        // Shared by all turns: subscribing takes a lock that all connections share.
        let mut shutdown = self.wire.shutdown.clone();
        let mut begun = pin!(shutdown.begun());
        let mut cut = pin!(self.flow.faults().when_cut(self.target.clone()));

        let mut turn = 0_u32;
        let mut has_ended = false;

        loop {
            if has_ended && answers.is_empty() && self.wire.delayed.is_empty() {
                return Err(Ending::ClosedByClient);
            }

            turn = turn.wrapping_add(1);
            let yields = turn.is_multiple_of(TURNS);

            let may_read = !has_ended
                && answers.len() < MAX_IN_FLIGHT
                && self.wire.delayed.len() < MAX_DELAYED / 2;
            let reads =
                may_read && has_room(answers.len(), &mut held_for_answers, self.flow.budget());
            if !reads {
                // The client may have sent something in the meantime.
                heard = Instant::now();
            }

            let look_again = (may_read && !reads).then(|| Instant::now() + LOOK_FOR_ROOM);
            let due = self.wire.delayed.front().map(|message| message.due);
            tokio::select! {
                // Most connections only wait for events, so these are polled first.
                biased;
                event = self.protocol.next_event(), if !yields && awaited == 0 => {
                    let event = event.ok_or(Ending::ShuttingDown)?;
                    self.send_event(event).await?;
                }
                () = until(due), if due.is_some() => self.wire.write_delayed().await?,
                Some((answer, is_awaited)) = answers.next() => {
                    self.send_answer(answer).await?;
                    awaited -= usize::from(is_awaited);
                }
                _ = ping.tick() => self.ping(heard).await?,
                () = &mut begun => return Err(Ending::ShuttingDown),
                () = &mut cut => return Err(Ending::Cut),
                message = self.wire.socket.next(), if reads => {
                    heard = Instant::now();
                    if message.is_none() && self.answers_after_end {
                        has_ended = true;
                        continue;
                    }
                    if let Some((answer, held, is_awaited)) = self.receive(message).await? {
                        awaited += usize::from(is_awaited);
                        let answer = complete(answer, held, self.flow.budget().clone());
                        answers.push(answer.map(move |answer| (answer, is_awaited)));
                    }
                }
                () = until(look_again), if look_again.is_some() => {}
                () = ready(()), if yields => {}
            }
        }
    }

    /// Writes the messages of an event.
    async fn send_event(&mut self, event: P::Event) -> Result<(), Ending> {
        let missed = if P::EVERY_EVENT {
            Ending::TooSlow
        } else {
            Ending::Stalled
        };

        let latency = self.latency();
        let messages = self.protocol.messages(&event);
        self.wire
            .send(messages, missed, latency, self.flow.budget())
            .await
    }

    /// Writes the answer to a message, unless it is empty. There is none if the budget had no room
    /// for it.
    async fn send_answer(&mut self, answer: Option<SocketMessage>) -> Result<(), Ending> {
        let answer = answer.ok_or(Ending::NoRoom)?;
        if answer.text.is_empty() {
            return Ok(());
        }
        self.reply(answer).await
    }

    /// Writes a message that is not of an event.
    async fn reply(&mut self, message: SocketMessage) -> Result<(), Ending> {
        let latency = self.latency();
        self.wire
            .send(
                [Ok(Some(message))],
                Ending::Stalled,
                latency,
                self.flow.budget(),
            )
            .await
    }

    /// Sends a ping, unless the client has been silent since `heard` for too long.
    async fn ping(&mut self, heard: Instant) -> Result<(), Ending> {
        if heard.elapsed() >= SILENCE {
            return Err(Ending::Silent);
        }

        let sending = self.wire.socket.send(Message::Ping(Default::default()));
        in_time(
            sending,
            self.wire.write_timeout,
            &self.wire.shutdown,
            Ending::Stalled,
        )
        .await
    }

    /// Passes a message to the protocol, and sends the reply if there is one at once. Returns the
    /// reply to wait for otherwise, with the memory of the message and whether events wait for it.
    async fn receive(
        &mut self,
        message: Option<Result<Message, tungstenite::Error>>,
    ) -> Result<Option<(BoxFuture<'static, SocketMessage>, Held, bool)>, Ending> {
        // A message for the connection itself was counted on arrival as well.
        let mut held = self.flow.take();
        let Some(message) = self.read(message)? else {
            return Ok(None);
        };

        let budget = self.flow.budget();
        if !budget.for_requests().grow(&mut held, message.len()).await {
            return Err(Ending::NoRoom);
        }
        // A message that fails has no effect.
        if self.flow.faults().fails(self.target.as_ref()) {
            return Err(Ending::Cut);
        }

        match self.protocol.receive(message) {
            SocketReply::Nothing => Ok(None),
            SocketReply::Now(reply) => {
                // The reply may need the memory of the message.
                drop(held);
                self.reply(reply).await?;
                Ok(None)
            }
            SocketReply::Later(answer) => Ok(Some((answer, held, false))),
            SocketReply::BeforeEvents(answer) => Ok(Some((answer, held, true))),
        }
    }

    /// The delay of messages to the client.
    fn latency(&self) -> Duration {
        self.flow.faults().latency(self.target.as_ref())
    }

    /// The content of a message; `None` if it is for the connection itself.
    fn read(
        &mut self,
        message: Option<Result<Message, tungstenite::Error>>,
    ) -> Result<Option<Utf8Bytes>, Ending> {
        let message = match message {
            None => return Err(Ending::Lost),
            Some(Ok(Message::Close(_))) => return Err(Ending::ClosedByClient),
            Some(Ok(message)) => message,
            Some(Err(error)) => {
                self.wire.unreadable = true;
                return Err(Ending::of(&error, self.sockets.limits().max_message));
            }
        };

        if self
            .limiter
            .as_ref()
            .is_some_and(|limiter| limiter.check().is_err())
        {
            return Err(Ending::TooManyMessages);
        }

        match message {
            Message::Text(text) => Ok(Some(text)),
            Message::Binary(bytes) => Utf8Bytes::try_from(bytes)
                .map(Some)
                .map_err(|_| Ending::NotUtf8),
            // The library answers pings.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => Ok(None),
        }
    }

    /// Closes the connection with its reason. Closing a connection with unread data would discard
    /// what was written last, so everything that the client sent in the meantime is read first.
    async fn close(&mut self, ending: Ending) {
        let frame = ending.frame();
        tracing::debug!(
            interface = self.sockets.interface(),
            ?ending,
            "a WebSocket ends"
        );

        // The frame would not be read; and a cut has to look like a failing network.
        if matches!(ending, Ending::Lost | Ending::Cut) {
            return;
        }

        let Wire {
            socket,
            shutdown,
            unreadable,
            ..
        } = &mut self.wire;

        let closing = async {
            if frame.is_some() && socket.send(Message::Close(frame)).await.is_err() {
                return;
            }
            // Reading also sends the reply to the client's close frame. It ends when both sides
            // have closed.
            while let Some(Ok(_)) = socket.next().await {
                self.flow.take();
            }
            // Without reads to wait for, the client needs time to receive the close frame.
            if *unreadable {
                sleep(CLOSING).await;
            }
        };

        tokio::select! {
            _ = timeout(ending.timeout(), closing) => {}
            () = shutdown.begun(), if ending.is_slow() => {}
        }
    }
}

/// Takes memory for another message, unless few are in progress. There is none while others use
/// much, so that many connections with short messages do not take the memory of long ones.
fn has_room(in_progress: usize, held: &mut Held, budget: &Budget) -> bool {
    let bytes = (in_progress + 1).saturating_sub(FEW_IN_FLIGHT) * SHORT_MESSAGE;
    held.shrink_to(bytes);
    bytes == 0 || budget.is_ample() && budget.try_grow(held, bytes)
}

/// Waits for a reply, and reserves memory for it once that of the request is released.
async fn complete(
    answer: BoxFuture<'static, SocketMessage>,
    request: Held,
    budget: Budget,
) -> Option<SocketMessage> {
    let mut answer = answer.await;
    drop(request);

    let room = budget.grow(&mut answer.held, answer.text.len()).await;
    room.then_some(answer)
}

/// Waits for a time; for ever if there is none.
async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

impl<S: Sink<Message, Error = tungstenite::Error> + Unpin> Wire<S> {
    /// Writes messages as they are rendered, or holds them back for `latency`. They never overtake
    /// earlier ones. Their memory counts until they are written.
    async fn send(
        &mut self,
        messages: impl IntoIterator<Item = Result<Option<SocketMessage>, AnswerError>>,
        missed: Ending,
        latency: Duration,
        budget: &Budget,
    ) -> Result<(), Ending> {
        let delays = !latency.is_zero() || !self.delayed.is_empty();
        let due = Instant::now() + latency;
        let due = self.delayed.back().map_or(due, |last| due.max(last.due));

        // The socket buffers no more than the newest message, apart from short ones.
        let mut newest = None;
        let mut turn = Instant::now();
        for message in messages {
            if turn.elapsed() > TURN {
                yield_now().await;
                turn = Instant::now();
            }

            let Some(message) = message.map_err(|_| Ending::NoRoom)? else {
                continue;
            };
            let SocketMessage { text, mut held } = message;

            if delays && self.delayed.len() >= MAX_DELAYED {
                return Err(missed);
            }
            if !budget.grow(&mut held, text.len()).await {
                return Err(Ending::NoRoom);
            }

            if delays {
                self.delayed.push_back(DelayedMessage {
                    due,
                    text,
                    missed,
                    _held: held,
                });
            } else {
                self.write(text, missed).await?;
                newest = Some(held);
            }
        }

        // One flush for all messages, since each is a system call.
        if newest.is_some() {
            self.flush(missed).await
        } else {
            Ok(())
        }
    }

    /// Writes the oldest of the messages that were held back.
    async fn write_delayed(&mut self) -> Result<(), Ending> {
        match self.delayed.pop_front() {
            Some(DelayedMessage {
                text,
                missed,
                _held,
                ..
            }) => {
                self.write(text, missed).await?;
                self.flush(missed).await
            }
            None => Ok(()),
        }
    }

    /// Writes a message, in frames. Ends with `missed` if the client does not take all of them in
    /// time.
    async fn write(&mut self, text: Utf8Bytes, missed: Ending) -> Result<(), Ending> {
        let write_timeout = self.write_timeout;
        if text.len() <= FRAME {
            let writing = self.socket.feed(Message::Text(text));
            return in_time(writing, write_timeout, &self.shutdown, missed).await;
        }

        let writing = feed_frames(&mut self.socket, text.into());
        in_time(writing, write_timeout, &self.shutdown, missed).await
    }

    async fn flush(&mut self, missed: Ending) -> Result<(), Ending> {
        in_time(
            self.socket.flush(),
            self.write_timeout,
            &self.shutdown,
            missed,
        )
        .await
    }
}

/// Writes a long text in several frames.
async fn feed_frames<S: Sink<Message> + Unpin>(
    socket: &mut S,
    mut text: Bytes,
) -> Result<(), S::Error> {
    let mut kind = Data::Text;
    while !text.is_empty() {
        let part = text.split_to(text.len().min(FRAME));
        let frame = Frame::message(part, OpCode::Data(kind), text.is_empty());
        socket.feed(Message::Frame(frame)).await?;
        kind = Data::Continue;
    }
    Ok(())
}

/// Waits for a write, until its timeout or the shutdown of the node.
async fn in_time(
    writing: impl Future<Output = Result<(), tungstenite::Error>>,
    write_timeout: Duration,
    shutdown: &Shutdown,
    missed: Ending,
) -> Result<(), Ending> {
    let lost = |_| Ending::Lost;

    let mut writing = pin!(writing);
    // The system nearly always takes the message at once.
    if let Some(written) = writing.as_mut().now_or_never() {
        return written.map_err(lost);
    }

    let mut shutdown = shutdown.clone();
    tokio::select! {
        written = timeout(write_timeout, writing) => written.map_err(|_| missed)?.map_err(lost),
        () = shutdown.begun() => Err(Ending::ShuttingDown),
    }
}
