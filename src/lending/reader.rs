//! View calls of the pool's lens at the newest block. Concurrent requests for the same body share one call.

use std::{collections::HashMap, sync::Arc};

use alloy_primitives::{Address, map::DefaultHashBuilder};
use alloy_sol_types::SolCall;
use parking_lot::Mutex;
use tokio::sync::{OnceCell, Semaphore};

use super::{
    bodies,
    history::{Samples, Span},
};
use crate::{
    chain::{Chain, Clock, Head, View},
    contracts::{ReadContractError, bindings::LendingLens, read},
    network::Network,
    web::{PerHead, Rendered, RestError, parameters::Timeframe},
};

/// View calls that may run at once.
const MAX_EXECUTIONS: usize = 32;
/// Most bodies about single users and pools that are kept for one head.
const MAX_BODIES: usize = 10_000;

/// The subject of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Topic {
    Pool(Address),
    User(Address),
    Positions(Address),
    Score(Address),
}

/// A body that is rendered once, by the first request for it.
type SharedBody = Arc<OnceCell<Rendered>>;

/// Bodies about single users and pools at one head.
#[derive(Default)]
struct BodiesByTopic(Mutex<HashMap<Topic, SharedBody, DefaultHashBuilder>>);

impl BodiesByTopic {
    /// The shared body of a topic. Beyond the limit it is not shared.
    fn get(&self, topic: Topic) -> SharedBody {
        let mut bodies = self.0.lock();
        if bodies.len() >= MAX_BODIES && !bodies.contains_key(&topic) {
            return Arc::default();
        }
        bodies.entry(topic).or_default().clone()
    }
}

/// The reader of the lens.
pub(super) struct LensReader {
    chain: Chain,
    lens: Address,
    clock: Arc<dyn Clock>,
    pools: PerHead<Rendered>,
    bodies: PerHead<BodiesByTopic>,
    samples: Arc<Samples>,
    executions: Arc<Semaphore>,
}

impl LensReader {
    pub(super) fn new(chain: Chain, network: &Network, clock: Arc<dyn Clock>) -> Self {
        Self {
            chain,
            lens: network.contracts.lending_lens,
            clock,
            pools: PerHead::default(),
            bodies: PerHead::default(),
            samples: Arc::default(),
            executions: Arc::new(Semaphore::new(MAX_EXECUTIONS)),
        }
    }

    /// `GET /api/pools`.
    pub(super) async fn pools(&self) -> Result<Arc<Rendered>, RestError> {
        let make = |head| self.ask(head, LendingLens::getPoolsCall {}, |views, _| bodies::pools(&views));
        let (_, body) = self.pools.get(&self.chain, make).await?;
        Ok(body)
    }

    /// Passes the body about one user or pool to `answer`.
    pub(super) async fn single<R>(&self, topic: Topic, answer: impl FnOnce(&Rendered) -> R) -> Result<R, RestError> {
        let empty = |_| async { Ok::<_, RestError>(BodiesByTopic::default()) };
        let (head, held) = self.bodies.get(&self.chain, empty).await?;
        let shared = held.get(topic);
        let body = shared.get_or_try_init(|| async {
            match topic {
                Topic::Pool(asset) => {
                    self.ask(head, LendingLens::getPoolCall { asset }, |pool, view| bodies::pool(&pool, &view.block))
                        .await
                }
                Topic::User(user) => {
                    self.ask(head, LendingLens::getAccountCall { user }, move |view, _| bodies::user(user, &view)).await
                }
                Topic::Positions(user) => {
                    let call = LendingLens::getAccountCall { user };
                    self.ask(head, call, move |view, _| bodies::positions(user, &view)).await
                }
                Topic::Score(user) => {
                    self.ask(head, LendingLens::getScoreCall { user }, move |view, _| bodies::score(user, &view)).await
                }
            }
        });
        Ok(answer(body.await?))
    }

    /// `GET /api/pools/<asset>/history`.
    pub(super) async fn history(
        &self,
        asset: Address,
        timeframe: Timeframe,
        count: u64,
    ) -> Result<Rendered, RestError> {
        let (chain, lens, samples) = (self.chain.clone(), self.lens, self.samples.clone());
        self.run(move || {
            let head = chain.head();
            let view = read(&View::newest(head.clone()), lens, &LendingLens::getPoolCall { asset })?;
            let samples = samples.take(&chain, &head, lens, asset, Span { seconds: timeframe.seconds, count })?;
            Ok(bodies::history(&view, timeframe.name, samples))
        })
        .await
    }

    /// Calls the lens at `head` and renders the result.
    async fn ask<C>(
        &self,
        head: Arc<Head>,
        call: C,
        render: impl FnOnce(C::Return, &View) -> String + Send + 'static,
    ) -> Result<Rendered, RestError>
    where
        C: SolCall + Send + 'static,
    {
        let lens = self.lens;
        self.run(move || {
            let view = View::newest(head);
            read(&view, lens, &call).map(|answer| render(answer, &view))
        })
        .await
    }

    /// Runs a view call on a blocking thread, when fewer than the limit are running.
    async fn run(
        &self,
        work: impl FnOnce() -> Result<String, ReadContractError> + Send + 'static,
    ) -> Result<Rendered, RestError> {
        let permit = self.executions.clone().acquire_owned().await;
        let run = move || {
            let _permit = permit;
            work()
        };
        let body = tokio::task::spawn_blocking(run).await?;
        let body = body.map_err(|error| RestError::Unavailable(format!("the pool cannot be read: {error}")))?;
        Ok(Rendered::new(body, self.clock.now_ms()))
    }
}
