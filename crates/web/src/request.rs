//! The request that the current task answers: its client, and the resources of the node that it
//! shares with all others.
//!
//! The connection sets it around everything that answers a request, so that neither a route nor a
//! layer can forget whose turn its work takes, or which budget its response counts against.

use std::{
    cell::RefCell,
    future::Future,
    sync::{Arc, LazyLock},
};

use super::{
    AnswerError, Budget, Client, Flow, Held,
    execution::{Caller, ExecutionFailed, is_abandoned},
};

tokio::task_local! {
    static CURRENT: RequestContext;
    /// Memory held by the current turn, without its response.
    static BUILT: RefCell<Built>;
}

/// Values that exist until the work of a turn is over.
#[derive(Default)]
struct Built {
    bytes: usize,
    held: Held,
}

/// The context of a request, or of a WebSocket.
#[derive(Clone, Debug, Default)]
pub struct RequestContext {
    pub(super) client: Client,
    pub(super) flow: Arc<Flow>,
}

impl RequestContext {
    /// The context of the request that the current task answers, if it answers one.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Self::clone).ok()
    }

    /// Runs `answer` in this context.
    pub fn scope<F: Future>(self, answer: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, answer)
    }
}

/// The client of the request that the current task answers.
pub fn current_client() -> Client {
    CURRENT
        .try_with(|context| context.client)
        .unwrap_or_default()
}

/// The budget of the request that the current task answers. What is written outside of requests
/// shares one of its own.
pub(super) fn current_budget() -> Budget {
    static OUTSIDE: LazyLock<Budget> = LazyLock::new(Budget::default);
    CURRENT
        .try_with(|context| context.flow.budget().clone())
        .unwrap_or_else(|_| OUTSIDE.clone())
}

/// Runs `work` on a thread of its own when it is the turn of the client whose request the current
/// task answers. Dropping the future cancels work that has not begun. Whatever may take more than a
/// millisecond belongs here. It must not wait for a peer, or for other work that takes turns.
pub async fn in_turn<R, E>(work: impl FnOnce() -> Result<R, E> + Send + 'static) -> Result<R, E>
where
    R: Send + 'static,
    E: From<ExecutionFailed> + Send + 'static,
{
    run(false, work).await
}

/// Runs `work` as [`in_turn`] does, among the work that is known to take long, which never holds
/// all threads.
pub async fn in_long_turn<R, E>(
    work: impl FnOnce() -> Result<R, E> + Send + 'static,
) -> Result<R, E>
where
    R: Send + 'static,
    E: From<ExecutionFailed> + Send + 'static,
{
    run(true, work).await
}

/// Takes memory for a value that the work under [`in_turn`] or [`in_long_turn`] is about to build,
/// until the work is over. Whatever depends on the size of a block or of an answer belongs here,
/// unless an [`AnswerWriter`](super::AnswerWriter) writes it.
pub fn hold_in_turn(bytes: usize) -> Result<(), AnswerError> {
    if is_abandoned() {
        return Err(AnswerError::Abandoned);
    }

    let budget = current_budget();
    let held = BUILT.try_with(|built| {
        let built = &mut *built.borrow_mut();
        built.bytes += bytes;
        budget.try_grow(&mut built.held, built.bytes)
    });

    // Nothing counts elsewhere.
    if held.unwrap_or(true) {
        Ok(())
    } else {
        Err(AnswerError::NoRoom)
    }
}

/// Runs a part of a turn's work: what it builds counts until it is over.
pub fn in_part<R>(work: impl FnOnce() -> R) -> R {
    BUILT.sync_scope(RefCell::default(), work)
}

async fn run<R, E>(long: bool, work: impl FnOnce() -> Result<R, E> + Send + 'static) -> Result<R, E>
where
    R: Send + 'static,
    E: From<ExecutionFailed> + Send + 'static,
{
    let context = RequestContext::current();
    let execution = context
        .as_ref()
        .and_then(|context| context.flow.execution().cloned());

    match (context, execution) {
        (Some(context), Some(execution)) => {
            let caller = Caller {
                client: context.client,
                long,
                remote: false,
            };
            // The work may write a response.
            let within =
                move || CURRENT.sync_scope(context, || BUILT.sync_scope(RefCell::default(), work));
            execution.apart(caller, within).await
        }
        // A task of the node itself.
        _ => tokio::task::spawn_blocking(work)
            .await
            .unwrap_or_else(|_| Err(ExecutionFailed.into())),
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::{
        super::{AnswerWriter, Capacity, Execution, Faults, MAX_ANSWER},
        *,
    };

    /// A request to a node with this memory for responses.
    fn request(budget: &Budget) -> RequestContext {
        let capacity = Capacity {
            budget: budget.clone(),
            execution: Some(Arc::new(Execution::new(2))),
            ..Capacity::default()
        };
        RequestContext {
            client: Client::default(),
            flow: Arc::new(Flow::new(capacity, Faults::default())),
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_a_turn_builds_counts_until_it_is_over() {
        const SIZE: usize = 1 << 20;
        let budget = Budget::new(4 * SIZE);
        let context = request(&budget);

        let _other = budget.hold(SIZE).await.expect("room");

        let own = budget.clone();
        let work = in_turn(move || {
            for _ in 0..8 {
                assert_eq!(in_part(|| hold_in_turn(SIZE)), Ok(()));
                assert_eq!(own.used(), SIZE);
            }
            assert_eq!(hold_in_turn(SIZE), Ok(()));
            assert_eq!(
                hold_in_turn(SIZE),
                Err(AnswerError::NoRoom),
                "all that it builds counts together"
            );
            Ok::<_, ExecutionFailed>(own.used())
        });

        assert_eq!(context.scope(work).await.expect("the work ran"), 2 * SIZE);
        assert_eq!(budget.used(), SIZE);
        assert_eq!(hold_in_turn(usize::MAX), Ok(()), "outside of turns");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn work_whose_client_is_gone_ends_when_it_needs_memory() {
        let (begun, wait_for_begin) = oneshot::channel();
        let (leave, wait_for_leave) = std::sync::mpsc::channel();
        let (outcome, wait_for_outcome) = oneshot::channel();
        let work = in_long_turn(move || {
            begun.send(()).expect("the client waits");
            wait_for_leave.recv().expect("the client leaves");
            let written = AnswerWriter::new(MAX_ANSWER).push(&[0; 1 << 20]);
            outcome
                .send((written, hold_in_turn(1)))
                .expect("the test waits");
            Ok::<_, ExecutionFailed>(())
        });

        let context = request(&Budget::new(4 << 20));
        let asking = tokio::spawn(context.scope(work));
        wait_for_begin.await.expect("the work begins");
        asking.abort();
        asking.await.expect_err("the client is gone");
        leave.send(()).expect("the work waits");

        assert_eq!(
            wait_for_outcome.await.expect("the work ends"),
            (Err(AnswerError::Abandoned), Err(AnswerError::Abandoned))
        );
    }
}
