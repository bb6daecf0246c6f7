//! Faults on demand, for tests of how clients cope with them: slow and failing requests, and
//! WebSockets that are cut.
//!
//! A request looks at one flag as long as there are no faults. Requests that administer the node
//! are never affected.
//!
//! Requests meet them after CORS and before their handlers. The requests that a fault lets fail are
//! spread evenly by their number, rather than at random, so that a test can rely on them.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, Method, Request, StatusCode, Uri, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use ipnet::IpNet;
use parking_lot::Mutex;
use serde_json::json;
use tetrad_stdx::clock::{Clock, SystemClock};
use tokio::{sync::Notify, time::sleep};

use super::{ClientAddresses, Peer, Shutdown, interface_path, json_rpc::INTERNAL_ERROR};

/// The header, and the parameter of the query, by which a client names itself.
const NAME_HEADER: &str = "x-client";
const NAME_PARAMETER: &str = "client";
/// Most bytes of a client's name. A longer one is not a name.
pub const MAX_CLIENT_NAME: usize = 64;
/// Ten thousandths in a whole.
const WHOLE: u64 = 10_000;

/// The interface that a fault concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultScope {
    /// JSON-RPC, over HTTP and WebSocket.
    Rpc,
    /// REST under `/api`.
    Rest,
    /// The price WebSocket.
    Prices,
}

/// The clients that a fault concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultClients {
    /// Every client.
    All,
    /// The clients with these addresses.
    Network(IpNet),
    /// The client that names itself so, in the header `x-client` or the parameter `client` of the
    /// query.
    Named(String),
}

/// A fault.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The interface.
    pub scope: FaultScope,
    /// The clients.
    pub clients: FaultClients,
    /// The delay of each request, and of each message to a WebSocket. Of several faults the longest
    /// delay applies.
    pub latency: Duration,
    /// The share of requests that fail, in ten thousandths. They are spread evenly, so that it is
    /// always the same ones.
    pub failing: u32,
    /// The status of failing requests. A message of a WebSocket fails by cutting it.
    pub status: StatusCode,
}

/// The faults of a node. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<SharedFaults>);

struct SharedFaults {
    addresses: ClientAddresses,
    clock: Arc<dyn Clock>,
    /// Ends the delay of requests.
    shutdown: Option<Shutdown>,
    active: AtomicBool,
    faults: ArcSwap<Vec<Arc<CountedFault>>>,
    /// Held while the list is changed.
    changing: Mutex<()>,
    sockets: Mutex<OpenSockets>,
}

/// The open WebSockets that can be cut.
#[derive(Debug, Default)]
struct OpenSockets {
    opened: u64,
    by_number: HashMap<u64, (FaultTarget, Arc<Notify>)>,
}

/// A WebSocket among those that can be cut.
struct CuttableSocket {
    faults: Faults,
    number: u64,
    cut: Arc<Notify>,
}

/// A fault, and the number of requests that it concerned.
#[derive(Debug)]
struct CountedFault {
    fault: Fault,
    requests: AtomicU64,
}

/// The sender of a request, as faults distinguish it.
#[derive(Clone, Debug)]
pub(super) struct FaultTarget {
    scope: FaultScope,
    address: IpAddr,
    name: Option<Box<str>>,
}

/// The effect of faults on one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FaultEffect {
    latency: Duration,
    status: Option<StatusCode>,
}

/// Keeps a fault in effect.
#[derive(Debug)]
pub struct FaultGuard {
    faults: Faults,
    fault: Arc<CountedFault>,
}

impl Default for SharedFaults {
    fn default() -> Self {
        Self {
            addresses: ClientAddresses::default(),
            clock: Arc::new(SystemClock),
            shutdown: None,
            active: AtomicBool::new(false),
            faults: ArcSwap::default(),
            changing: Mutex::default(),
            sockets: Mutex::default(),
        }
    }
}

impl std::fmt::Debug for SharedFaults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Faults")
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}

impl Drop for FaultGuard {
    fn drop(&mut self) {
        self.faults
            .change(|all| all.retain(|fault| !Arc::ptr_eq(fault, &self.fault)));
    }
}

impl Drop for CuttableSocket {
    fn drop(&mut self) {
        self.faults.0.sockets.lock().by_number.remove(&self.number);
    }
}

impl FaultClients {
    fn include(&self, target: &FaultTarget) -> bool {
        match self {
            Self::All => true,
            Self::Network(network) => network.contains(&target.address),
            Self::Named(name) => target.name.as_deref() == Some(name),
        }
    }
}

impl Faults {
    /// No faults yet. Clients are found by their addresses as `addresses` knows them. A shutdown
    /// ends the delay of requests.
    pub fn new(addresses: ClientAddresses, clock: Arc<dyn Clock>, shutdown: Shutdown) -> Self {
        Self(Arc::new(SharedFaults {
            addresses,
            clock,
            shutdown: Some(shutdown),
            ..SharedFaults::default()
        }))
    }

    /// Has the requests of a router suffer the faults. `scope` is the interface at all paths, if
    /// there is only one.
    pub fn affect(&self, router: Router, scope: Option<FaultScope>) -> Router {
        router.layer(from_fn_with_state((self.clone(), scope), suffer))
    }

    /// Puts a fault into effect for as long as the guard exists.
    pub fn add(&self, fault: Fault) -> FaultGuard {
        let fault = Arc::new(CountedFault {
            fault,
            requests: AtomicU64::new(0),
        });
        self.change(|all| all.push(fault.clone()));
        FaultGuard {
            faults: self.clone(),
            fault,
        }
    }

    /// Cuts the open WebSockets of some clients, as if the network had failed.
    pub fn cut(&self, scope: FaultScope, clients: &FaultClients) {
        let sockets = self.0.sockets.lock();
        let concerned = sockets
            .by_number
            .values()
            .filter(|(target, _)| target.scope == scope && clients.include(target));
        concerned.for_each(|(_, cut)| cut.notify_one());
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<CountedFault>>)) {
        let _changing = self.0.changing.lock();
        let mut all = Vec::clone(&self.0.faults.load());
        change(&mut all);
        self.0.active.store(!all.is_empty(), Ordering::Relaxed);
        self.0.faults.store(Arc::new(all));
    }

    /// Whether there are faults.
    pub(super) fn are_active(&self) -> bool {
        self.0.active.load(Ordering::Relaxed)
    }

    /// The effect on a request; none if no fault concerns it.
    fn on_request<B>(
        &self,
        request: &Request<B>,
        peer: Peer,
        scope: Option<FaultScope>,
    ) -> Option<FaultEffect> {
        if !self.are_active() {
            return None;
        }
        let scope = scope_of(request, scope)?;
        self.effect(&self.target(scope, peer, request.headers(), request.uri()))
    }

    /// The target that the sender of a request is.
    pub(super) fn target(
        &self,
        scope: FaultScope,
        peer: Peer,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> FaultTarget {
        let in_header = headers.get(NAME_HEADER).and_then(|name| name.to_str().ok());
        let name = in_header
            .or_else(|| name_in_query(uri))
            .filter(|name| name.len() <= MAX_CLIENT_NAME);

        FaultTarget {
            scope,
            address: self.0.addresses.client(peer.address.ip(), headers),
            name: name.map(Box::from),
        }
    }

    /// The effect on one request of a target; none if no fault concerns it.
    fn effect(&self, target: &FaultTarget) -> Option<FaultEffect> {
        let all = self.0.faults.load();
        let mut effect: Option<FaultEffect> = None;
        for counted in all.iter().filter(|counted| counted.concerns(target)) {
            // Every fault counts the request, even one that fails already, so that its share stays
            // exact.
            let status = counted.next_fails().then_some(counted.fault.status);
            let effect = effect.get_or_insert(FaultEffect {
                latency: Duration::ZERO,
                status: None,
            });
            effect.latency = effect.latency.max(counted.fault.latency);
            effect.status = effect.status.or(status);
        }
        effect
    }

    /// Whether a message of a WebSocket fails.
    pub(super) fn fails(&self, target: Option<&FaultTarget>) -> bool {
        let target = target.filter(|_| self.are_active());
        target
            .and_then(|target| self.effect(target))
            .is_some_and(|effect| effect.status.is_some())
    }

    /// The delay of messages to a WebSocket.
    pub(super) fn latency(&self, target: Option<&FaultTarget>) -> Duration {
        let Some(target) = target.filter(|_| self.are_active()) else {
            return Duration::ZERO;
        };

        let all = self.0.faults.load();
        let concerned = all.iter().filter(|counted| counted.concerns(target));
        concerned
            .map(|counted| counted.fault.latency)
            .max()
            .unwrap_or_default()
    }

    /// Resolves when the WebSocket of a target is cut.
    pub(super) fn when_cut(
        &self,
        target: Option<FaultTarget>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let socket = target.map(|target| self.register(target));
        async move {
            match socket {
                Some(socket) => socket.cut.notified().await,
                None => std::future::pending().await,
            }
        }
    }

    fn register(&self, target: FaultTarget) -> CuttableSocket {
        let cut = Arc::<Notify>::default();

        let mut sockets = self.0.sockets.lock();
        sockets.opened += 1;
        let number = sockets.opened;
        sockets.by_number.insert(number, (target, cut.clone()));

        CuttableSocket {
            faults: self.clone(),
            number,
            cut,
        }
    }
}

impl CountedFault {
    fn concerns(&self, target: &FaultTarget) -> bool {
        self.fault.scope == target.scope && self.fault.clients.include(target)
    }

    /// Counts a request. Returns whether it fails.
    fn next_fails(&self) -> bool {
        let before = self.requests.fetch_add(1, Ordering::Relaxed) % WHOLE;
        let share = u64::from(self.fault.failing);
        (before + 1) * share / WHOLE > before * share / WHOLE
    }
}

/// The name of a client in the query, if it gives one.
fn name_in_query(uri: &Uri) -> Option<&str> {
    let pairs = uri
        .query()?
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    pairs
        .filter(|(name, _)| *name == NAME_PARAMETER)
        .map(|(_, value)| value)
        .next()
}

async fn suffer(
    State((faults, scope)): State<(Faults, Option<FaultScope>)>,
    request: axum::extract::Request,
    next: Next,
) -> Response {
    let peer = request.extensions().get().copied().unwrap_or_default();
    if let Some(effect) = faults.on_request(&request, peer, scope) {
        // Boxed, so that it does not enlarge the future of every request.
        if let Some(failure) = Box::pin(effect.apply(&faults.0, request.uri().path())).await {
            return failure;
        }
    }
    next.run(request).await
}

impl FaultEffect {
    /// Delays a request. Returns the response if it fails.
    async fn apply(self, shared: &SharedFaults, path: &str) -> Option<Response> {
        match shared.shutdown.clone() {
            Some(mut shutdown) => tokio::select! {
                () = sleep(self.latency) => {}
                () = shutdown.begun() => {}
            },
            None => sleep(self.latency).await,
        }

        let status = self.status?;
        let message = "this request fails because of a scenario";
        let body = if path.starts_with("/api/") {
            json!({ "success": false, "message": message, "error": "scenario", "timestamp": shared.clock.now_ms() })
        } else {
            // The body has not been read, and the id is in it.
            json!({ "jsonrpc": "2.0", "id": null, "error": { "code": INTERNAL_ERROR, "message": message } })
        };

        Some((status, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response())
    }
}

/// The interface of a request; none if no fault may concern it. `only` is the interface at all
/// paths.
fn scope_of<B>(request: &Request<B>, only: Option<FaultScope>) -> Option<FaultScope> {
    if only.is_some() {
        return only;
    }

    let upgrades = request.headers().contains_key(header::UPGRADE);
    match interface_path(request.uri().path()) {
        "/" | "/rpc" => (request.method() == Method::POST || upgrades).then_some(FaultScope::Rpc),
        "/ws" => upgrades.then_some(FaultScope::Prices),
        // A scenario must not prevent its operator from ending it.
        path if path.starts_with("/api/admin/") => None,
        path if path.starts_with("/api/") => {
            (request.method() != Method::OPTIONS).then_some(FaultScope::Rest)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ShutdownHandle;

    fn request(method: &str, uri: &str) -> Request<()> {
        Request::builder()
            .method(method)
            .uri(uri)
            .body(())
            .expect("a request")
    }

    fn fault(clients: FaultClients, failing: u32) -> Fault {
        Fault {
            scope: FaultScope::Rpc,
            clients,
            latency: Duration::from_millis(5),
            failing,
            status: StatusCode::BAD_GATEWAY,
        }
    }

    #[test]
    fn a_fault_lasts_as_long_as_its_guard() {
        let faults = Faults::default();
        let affected = || faults.on_request(&request("POST", "/rpc"), Peer::default(), None);

        assert_eq!(affected(), None);

        let guard = faults.add(fault(FaultClients::All, 0));
        assert_eq!(
            affected(),
            Some(FaultEffect {
                latency: Duration::from_millis(5),
                status: None
            })
        );

        drop(guard);
        assert_eq!(affected(), None);
        assert!(!faults.are_active());
    }

    #[test]
    fn failing_requests_are_spread_evenly() {
        let faults = Faults::default();
        let _guard = faults.add(fault(FaultClients::All, 3_000));
        let failing: Vec<_> = (0..10)
            .map(|_| {
                faults
                    .on_request(&request("POST", "/"), Peer::default(), None)
                    .is_some_and(|effect| effect.status.is_some())
            })
            .collect();
        assert_eq!(
            failing,
            [
                false, false, false, true, false, false, true, false, false, true
            ]
        );
    }

    #[test]
    fn of_several_faults_the_longest_delay_applies() {
        let faults = Faults::default();
        let _guards = [5, 20, 10].map(|millis| {
            faults.add(Fault {
                latency: Duration::from_millis(millis),
                ..fault(FaultClients::All, 0)
            })
        });

        let effect = faults
            .on_request(&request("POST", "/"), Peer::default(), None)
            .expect("an effect");
        assert_eq!(effect.latency, Duration::from_millis(20));
    }

    #[tokio::test(start_paused = true)]
    async fn a_shutdown_ends_the_delay() {
        let (handle, shutdown) = ShutdownHandle::new();
        let faults = Faults::new(ClientAddresses::default(), Arc::new(SystemClock), shutdown);
        let latency = Duration::from_secs(60);
        let began = tokio::time::Instant::now();
        let delayed = async move {
            FaultEffect {
                latency,
                status: None,
            }
            .apply(&faults.0, "/rpc")
            .await
            .is_none()
        };

        let (goes_on, ended) = tokio::join!(
            tokio::spawn(delayed),
            handle.shut_down(Duration::from_secs(8))
        );
        assert!(goes_on.expect("no panic") && ended && began.elapsed() < latency);
    }

    fn target_named(faults: &Faults, name: &str) -> FaultTarget {
        let uri: Uri = format!("/rpc?client={name}").parse().expect("a URI");
        faults.target(FaultScope::Rpc, Peer::default(), &HeaderMap::new(), &uri)
    }

    #[tokio::test]
    async fn however_many_are_cut_only_the_concerned_sockets_are() {
        let faults = Faults::default();
        let alice = faults.when_cut(Some(target_named(&faults, "alice")));
        let bob = faults.when_cut(Some(target_named(&faults, "bob")));

        for _ in 0..100 {
            faults.cut(FaultScope::Rpc, &FaultClients::Named("alice".to_owned()));
            faults.cut(FaultScope::Prices, &FaultClients::All);
        }

        alice.await;
        let mut bob = std::pin::pin!(bob);
        assert!(futures_util::FutureExt::now_or_never(&mut bob).is_none());

        assert_eq!(
            faults.0.sockets.lock().by_number.len(),
            1,
            "a socket that is gone is forgotten"
        );
    }

    /// Whether there is a fault for a request of a client, which may state its name.
    fn is_affected(faults: &Faults, uri: &str, header: Option<&str>, peer: &str) -> bool {
        let mut request = request("POST", uri);
        if let Some(name) = header {
            request
                .headers_mut()
                .insert(NAME_HEADER, name.parse().expect("a value"));
        }
        let peer = Peer {
            address: (peer.parse::<IpAddr>().expect("an address"), 1).into(),
            connection: 0,
        };

        faults.on_request(&request, peer, None).is_some()
    }

    #[test]
    fn a_client_is_found_by_name_or_address() {
        let faults = Faults::default();
        let _named = faults.add(fault(FaultClients::Named("alice".to_owned()), 0));

        let affected =
            |uri: &str, header: Option<&str>, peer: &str| is_affected(&faults, uri, header, peer);

        assert!(
            affected("/rpc?client=alice", None, "127.0.0.1")
                && affected("/rpc", Some("alice"), "127.0.0.1")
        );
        assert!(
            !affected("/rpc?client=bob", None, "127.0.0.1") && !affected("/rpc", None, "127.0.0.1")
        );

        let _network = faults.add(fault(
            FaultClients::Network("10.0.0.0/8".parse().expect("a network")),
            0,
        ));
        assert!(affected("/rpc", None, "10.1.2.3") && !affected("/rpc", None, "11.1.2.3"));
    }

    #[test]
    fn some_requests_are_never_affected() {
        let scope = |method, uri| scope_of(&request(method, uri), None);
        assert_eq!(scope("POST", "/rpc?client=x"), Some(FaultScope::Rpc));
        assert_eq!(scope("GET", "/api/prices"), Some(FaultScope::Rest));
        for (method, uri) in [
            ("GET", "/"),
            ("OPTIONS", "/rpc"),
            ("OPTIONS", "/api/prices"),
            ("DELETE", "/api/admin/scenarios/1"),
            ("GET", "/metrics"),
            ("GET", "/health"),
        ] {
            assert_eq!(scope(method, uri), None, "{method} {uri}");
        }
    }
}
