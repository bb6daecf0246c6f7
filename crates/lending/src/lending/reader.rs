//! View calls of the pool's lens at the newest block. Concurrent requests for the same body share
//! one call.

use std::{collections::HashMap, sync::Arc};

use alloy_primitives::{Address, map::DefaultHashBuilder};
use alloy_sol_types::SolCall;
use parking_lot::Mutex;
use tetrad_chain::{Chain, Head, PerHead, View};
use tetrad_contracts::contracts::{ReadContractError, bindings::LendingLens, read};
use tetrad_network::{account::address_from_hex, network::Network};
use tetrad_stdx::clock::Clock;
use tetrad_web::{Rendered, RestError, in_turn, parameters::Timeframe};
use tokio::sync::OnceCell;

use super::{
    bodies,
    history::{Samples, Span},
};

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

/// All pools at one head.
pub(super) struct Pools {
    /// `GET /api/pools`.
    pub(super) body: Rendered,
    /// The address and the symbol of each asset.
    assets: Vec<(Address, String)>,
}

impl Pools {
    /// Returns the asset with an address or a symbol, in any case.
    pub(super) fn find(&self, name: &str) -> Option<Address> {
        let wanted = address_from_hex(&name.to_ascii_lowercase()).ok();
        self.assets
            .iter()
            .find(|(address, symbol)| wanted == Some(*address) || symbol.eq_ignore_ascii_case(name))
            .map(|(address, _)| *address)
    }
}

/// The reader of the lens.
pub(super) struct LensReader {
    chain: Chain,
    lens: Address,
    clock: Arc<dyn Clock>,
    pools: PerHead<Pools>,
    bodies: PerHead<BodiesByTopic>,
    samples: Arc<Samples>,
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
        }
    }

    /// Returns all pools.
    pub(super) async fn pools(&self) -> Result<Arc<Pools>, RestError> {
        let make = |head| self.read_pools(head);
        let (_, pools) = self.pools.get(&self.chain, make).await?;
        Ok(pools)
    }

    async fn read_pools(&self, head: Arc<Head>) -> Result<Pools, RestError> {
        let lens = self.lens;
        let views =
            shared(move || read(&View::newest(head), lens, &LendingLens::getPoolsCall {})).await?;
        let assets = views
            .iter()
            .map(|pool| (pool.asset, pool.symbol.clone()))
            .collect();
        Ok(Pools {
            body: Rendered::new(bodies::pools(&views), self.clock.now_ms()),
            assets,
        })
    }

    /// Passes the body about one user or pool to `answer`.
    pub(super) async fn single<R>(
        &self,
        topic: Topic,
        answer: impl FnOnce(&Rendered) -> R,
    ) -> Result<R, RestError> {
        let empty = |_| async { Ok::<_, RestError>(BodiesByTopic::default()) };
        let (head, held) = self.bodies.get(&self.chain, empty).await?;
        let shared = held.get(topic);

        let body = match (topic, shared.get()) {
            (_, Some(body)) => body,
            (Topic::Pool(_), None) => shared.get_or_try_init(|| self.render(head, topic)).await?,
            // In the turn of each client that asks, rather than in that of the first, which may be
            // far away.
            (Topic::User(_) | Topic::Positions(_) | Topic::Score(_), None) => {
                let own = self.render(head, topic).await?;
                shared.get_or_init(|| async { own }).await
            }
        };

        Ok(answer(body))
    }

    /// Renders the body about one user or pool at `head`.
    async fn render(&self, head: Arc<Head>, topic: Topic) -> Result<Rendered, RestError> {
        let lens = self.lens;
        let render = move || render_topic(&View::newest(head), lens, topic);
        let body = match topic {
            // There are few pools, and all clients wait for the same body.
            Topic::Pool(_) => shared(render).await?,
            Topic::User(_) | Topic::Positions(_) | Topic::Score(_) => self.run(render).await?,
        };
        Ok(Rendered::new(body, self.clock.now_ms()))
    }

    /// `GET /api/pools/<asset>/history`.
    pub(super) async fn history(
        &self,
        asset: Address,
        timeframe: Timeframe,
        count: u64,
    ) -> Result<Rendered, RestError> {
        let chain = self.chain.clone();
        let lens = self.lens;
        let samples = self.samples.clone();
        let span = Span {
            seconds: timeframe.seconds,
            count,
        };

        let body = self.run(move || {
            let head = chain.head();
            let view = read(
                &View::newest(head.clone()),
                lens,
                &LendingLens::getPoolCall { asset },
            )?;
            let samples = samples.take(&chain, &head, lens, asset, span)?;
            Ok(bodies::history(&view, timeframe.name, samples))
        });
        Ok(Rendered::for_one(body.await?, self.clock.now_ms()))
    }

    /// Runs a view call in the turn of the client.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ReadContractError> + Send + 'static,
    ) -> Result<T, RestError> {
        in_turn(move || work().map_err(unreadable)).await
    }
}

/// Reads the lens about one user or pool.
fn render_topic(view: &View, lens: Address, topic: Topic) -> Result<String, ReadContractError> {
    Ok(match topic {
        Topic::Pool(asset) => {
            let pool = read(view, lens, &LendingLens::getPoolCall { asset })?;
            let limits = read_newer(view, lens, &LendingLens::getLimitsCall { asset })?;
            bodies::pool(&pool, limits.as_ref(), &view.block)
        }
        Topic::User(user) => {
            let account = read(view, lens, &LendingLens::getAccountCall { user })?;
            bodies::user(user, &account)
        }
        Topic::Positions(user) => {
            let account = read(view, lens, &LendingLens::getAccountCall { user })?;
            let collateral = read_newer(view, lens, &LendingLens::getCollateralCall { user })?;
            bodies::positions(user, &account, collateral.as_deref())
        }
        Topic::Score(user) => {
            let score = read(view, lens, &LendingLens::getScoreCall { user })?;
            bodies::score(user, &score)
        }
    })
}

/// Runs a view call whose result all clients share. It takes no client's turn: a client that
/// has to wait for its own would let all others wait.
async fn shared<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReadContractError> + Send + 'static,
) -> Result<T, RestError> {
    let answer = tokio::task::spawn_blocking(work).await;
    let answer = answer.map_err(|error| RestError::Internal(error.to_string()))?;
    answer.map_err(unreadable)
}

fn unreadable(error: ReadContractError) -> RestError {
    RestError::Unavailable(format!("the pool cannot be read: {error}"))
}

/// Reads a function that the lens of a chain of an earlier version lacks; none there.
fn read_newer<C: SolCall>(
    view: &View,
    lens: Address,
    call: &C,
) -> Result<Option<C::Return>, ReadContractError> {
    match read(view, lens, call) {
        Err(ReadContractError::Failed { .. }) => Ok(None),
        answer => answer.map(Some),
    }
}
