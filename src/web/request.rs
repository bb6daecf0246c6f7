//! The request that the current task answers: its client, and the resources of the node that it shares with all others.
//!
//! The connection sets it around everything that answers a request, so that neither a route nor a layer can forget whose
//! turn its work takes, or which budget its response counts against.

use std::{
    future::Future,
    sync::{Arc, LazyLock},
};

use super::{
    Budget, Client, ClientAddresses, Flow,
    execution::{Caller, Execution, ExecutionFailed},
};

tokio::task_local! {
    static CURRENT: RequestContext;
}

/// What the requests of all listeners share. Clones share it, too.
#[derive(Clone, Debug, Default)]
pub struct Capacity {
    /// The memory of requests and responses in transit.
    pub budget: Budget,
    /// The threads that execute; none outside of a node.
    pub execution: Option<Arc<Execution>>,
    /// Determines the clients that take turns.
    pub addresses: ClientAddresses,
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
    CURRENT.try_with(|context| context.client).unwrap_or_default()
}

/// The budget of the request that the current task answers. What is written outside of requests shares one of its own.
pub(super) fn current_budget() -> Budget {
    static OUTSIDE: LazyLock<Budget> = LazyLock::new(Budget::default);
    CURRENT.try_with(|context| context.flow.budget().clone()).unwrap_or_else(|_| OUTSIDE.clone())
}

/// Runs `work` on a thread of its own when it is the turn of the client whose request the current task answers. Dropping the
/// future cancels work that has not begun. Whatever may take more than a millisecond belongs here. It must not wait for a
/// peer, or for other work that takes turns.
pub async fn in_turn<R, E>(work: impl FnOnce() -> Result<R, E> + Send + 'static) -> Result<R, E>
where
    R: Send + 'static,
    E: From<ExecutionFailed> + Send + 'static,
{
    run(false, work).await
}

/// Runs `work` as [`in_turn`] does, among the work that is known to take long, which never holds all threads.
pub async fn in_long_turn<R, E>(work: impl FnOnce() -> Result<R, E> + Send + 'static) -> Result<R, E>
where
    R: Send + 'static,
    E: From<ExecutionFailed> + Send + 'static,
{
    run(true, work).await
}

async fn run<R, E>(long: bool, work: impl FnOnce() -> Result<R, E> + Send + 'static) -> Result<R, E>
where
    R: Send + 'static,
    E: From<ExecutionFailed> + Send + 'static,
{
    let context = RequestContext::current();
    let execution = context.as_ref().and_then(|context| context.flow.execution().cloned());
    match (context, execution) {
        (Some(context), Some(execution)) => {
            let caller = Caller { client: context.client, long, remote: false };
            // The work may write a response.
            let within = move || CURRENT.sync_scope(context, work);
            execution.apart(caller, within).await
        }
        // A task of the node itself.
        _ => tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(ExecutionFailed.into())),
    }
}
