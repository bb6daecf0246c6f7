//! Who executes next on a thread of its own.
//!
//! Clients take turns: addresses first, then the connections of an address, so that neither a long queue nor many
//! connections get more than their share. What is known to take long waits apart from the rest and never holds all
//! threads: a client that asks for little finds a free one, whatever the others do.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use alloy_primitives::map::DefaultHashBuilder;
use parking_lot::Mutex;
use tokio::runtime::Handle;

use super::{
    ring::{Ring, Waiting},
    slice::run_until,
};
use crate::web::{Client, ClientKey};

/// Recent execution from which on a connection counts as heavy.
const HEAVY_CONNECTION: Duration = Duration::from_millis(50);
/// The same for an address, which may be that of many users.
const HEAVY_ADDRESS: Duration = Duration::from_millis(500);
/// After which time half of what was used is forgotten.
const HALF_LIFE: Duration = Duration::from_secs(1);
/// Executions of one connection that run at a time before the others wait among the long ones.
const AT_ONCE: usize = 2;
/// Executions that are not counted as use, as those that are quick enough to run where the request arrived are not.
const NEGLIGIBLE: Duration = Duration::from_millis(1);
/// How often clients are forgotten that have used nothing lately.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// For whom something executes, and what is known of it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::rpc) struct Caller {
    pub(in crate::rpc) client: Client,
    /// It has shown already that it takes long.
    pub(in crate::rpc) long: bool,
    /// It may have to wait for another node, and takes no processor meanwhile.
    pub(in crate::rpc) remote: bool,
}

/// What kind of work waits, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Of a client that has used little.
    Light,
    /// Of a connection that has used little, from an address that has used much.
    Crowded,
    /// Everything else.
    Long,
}

const KINDS: [Kind; 3] = [Kind::Light, Kind::Crowded, Kind::Long];

/// How many executions run at a time.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// All of them.
    all: usize,
    /// All but the light ones.
    crowded: usize,
    /// Long ones.
    long: usize,
    /// Long ones of one address: another one finds a thread.
    long_of_address: usize,
}

impl Limits {
    fn new(all: usize) -> Self {
        let long = (all / 2).max(1);
        Self { all, crowded: (all * 3 / 4).max(1), long, long_of_address: (long - 1).max(1) }
    }

    /// Whether one more of this kind may run beside so many of each.
    fn permit(&self, kind: Kind, running: &[usize; 3]) -> bool {
        let [light, crowded, long] = *running;
        light + crowded + long < self.all
            && (kind < Kind::Crowded || crowded + long < self.crowded)
            && (kind < Kind::Long || long < self.long)
    }
}

/// An execution that waits.
struct Job {
    id: u64,
    caller: Caller,
    kind: Kind,
    given_up: Arc<AtomicBool>,
    run: Box<dyn FnOnce() + Send>,
}

/// Recent execution time of a connection or an address.
#[derive(Clone, Copy, Debug)]
struct Usage {
    used: Duration,
    at: Instant,
}

impl Usage {
    fn none(now: Instant) -> Self {
        Self { used: Duration::ZERO, at: now }
    }

    /// What is not forgotten yet.
    fn recent(&self, now: Instant) -> Duration {
        let halvings = now.saturating_duration_since(self.at).as_secs_f64() / HALF_LIFE.as_secs_f64();
        self.used.mul_f64(0.5_f64.powf(halvings))
    }

    fn add(&mut self, took: Duration, now: Instant) {
        (self.used, self.at) = (self.recent(now) + took, now);
    }
}

type Usages<K> = HashMap<K, Usage, DefaultHashBuilder>;

struct State {
    waiting: [Ring<ClientKey, Ring<u64, VecDeque<Job>>>; 3],
    running: [usize; 3],
    /// Executions that run of each connection that has any.
    running_of: HashMap<Client, usize, DefaultHashBuilder>,
    /// Long executions that run of each address that has any.
    long_of: HashMap<ClientKey, usize, DefaultHashBuilder>,
    connections: Usages<Client>,
    addresses: Usages<ClientKey>,
    swept: Instant,
    last_id: u64,
    limits: Limits,
}

/// The queues, and who has used how much.
pub(super) struct Schedule {
    state: Mutex<State>,
    /// Connections that are known to have used anything. As long as there are none, nobody has to look.
    known: AtomicUsize,
    /// Where executions take processor time. More at a time than processors can run would only take memory.
    local: Limits,
    /// Where they wait for another node most of the time.
    remote: Limits,
    handle: Handle,
}

/// An execution that somebody waits for. Dropping it gives the execution up.
pub(super) struct Ticket<'s> {
    schedule: &'s Schedule,
    id: u64,
    client: Client,
    given_up: Arc<AtomicBool>,
}

impl Schedule {
    /// At most `threads` execute at a time.
    pub(super) fn new(threads: usize, handle: Handle) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let (local, remote) = (Limits::new(threads.min((4 * processors).max(8))), Limits::new(threads));
        let state = State {
            waiting: Default::default(),
            running: [0; 3],
            running_of: HashMap::default(),
            long_of: HashMap::default(),
            connections: Usages::default(),
            addresses: Usages::default(),
            swept: Instant::now(),
            last_id: 0,
            limits: local,
        };
        Self { state: Mutex::new(state), known: AtomicUsize::new(0), local, remote, handle }
    }

    /// Whether the connection has used so much that its work should not begin on a task of the runtime.
    pub(super) fn is_heavy(&self, client: Client) -> bool {
        if self.known.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let now = Instant::now();
        let mut state = self.state.lock();
        state.sweep(now);
        self.known.store(state.connections.len(), Ordering::Relaxed);
        state.connections.get(&client).is_some_and(|usage| usage.recent(now) > HEAVY_CONNECTION)
    }

    /// Counts what a client used elsewhere.
    pub(super) fn charge(&self, client: Client, took: Duration) {
        let mut state = self.state.lock();
        state.charge(client, took, Instant::now());
        self.known.store(state.connections.len(), Ordering::Relaxed);
    }

    /// Runs `run` when it is the caller's turn.
    pub(super) fn submit(self: &Arc<Self>, caller: Caller, run: Box<dyn FnOnce() + Send>) -> Ticket<'_> {
        let given_up = Arc::<AtomicBool>::default();
        let mut state = self.state.lock();
        state.limits = if caller.remote { self.remote } else { self.local };
        state.last_id += 1;
        let id = state.last_id;
        let now = Instant::now();
        let kind = state.kind(caller, now);
        let next = state.admit(Job { id, caller, kind, given_up: given_up.clone(), run }, now);
        drop(state);
        if let Some(job) = next {
            let own = self.clone();
            self.handle.spawn_blocking(move || own.work(job));
        }
        Ticket { schedule: self, id, client: caller.client, given_up }
    }

    /// Runs a job, and then others for as long as there are any whose turn it is.
    fn work(&self, mut job: Job) {
        loop {
            let (caller, kind, began) = (job.caller, job.kind, Instant::now());
            run_until(job.given_up, job.run);
            let mut state = self.state.lock();
            let now = Instant::now();
            state.end(caller.client, kind);
            if now - began >= NEGLIGIBLE {
                state.charge(caller.client, now - began, now);
                self.known.store(state.connections.len(), Ordering::Relaxed);
            }
            match state.take_next(now) {
                Some(next) => job = next,
                None => return,
            }
        }
    }
}

impl State {
    fn charge(&mut self, client: Client, took: Duration, now: Instant) {
        self.connections.entry(client).or_insert_with(|| Usage::none(now)).add(took, now);
        self.addresses.entry(client.address).or_insert_with(|| Usage::none(now)).add(took, now);
        self.sweep(now);
    }

    fn sweep(&mut self, now: Instant) {
        if now - self.swept < SWEEP_INTERVAL {
            return;
        }
        self.swept = now;
        let counts = |usage: &Usage| usage.recent(now) > HEAVY_CONNECTION / 10;
        self.connections.retain(|_, usage| counts(usage));
        self.addresses.retain(|_, usage| counts(usage));
    }

    fn kind(&self, caller: Caller, now: Instant) -> Kind {
        let connection = self.connections.get(&caller.client);
        let address = self.addresses.get(&caller.client.address);
        let running = self.running_of.get(&caller.client);
        if caller.long
            || running.is_some_and(|running| *running >= AT_ONCE)
            || connection.is_some_and(|usage| usage.recent(now) > HEAVY_CONNECTION)
        {
            Kind::Long
        } else if address.is_some_and(|usage| usage.recent(now) > HEAVY_ADDRESS) {
            Kind::Crowded
        } else {
            Kind::Light
        }
    }

    /// Begins the job if none waits and there is a thread for it. Otherwise it waits, and the one whose turn it is begins.
    fn admit(&mut self, job: Job, now: Instant) -> Option<Job> {
        if self.waiting.iter().all(Waiting::is_empty)
            && self.limits.permit(job.kind, &self.running)
            && (job.kind < Kind::Long || self.may_begin_long(job.caller.client.address))
        {
            return Some(self.begin(job));
        }
        self.put(job);
        self.take_next(now)
    }

    fn put(&mut self, job: Job) {
        let Client { address, connection } = job.caller.client;
        self.waiting[job.kind as usize].queue(address).queue(connection).push_back(job);
    }

    /// Begins the job whose turn it is, if there is a thread for it.
    fn take_next(&mut self, now: Instant) -> Option<Job> {
        for kind in KINDS {
            while self.limits.permit(kind, &self.running) {
                let (long_of, most) = (&self.long_of, self.limits.long_of_address);
                let may_begin = |address: &ClientKey| kind < Kind::Long || count(long_of, *address) < most;
                let Some(mut job) = self.waiting[kind as usize].take_where(may_begin) else { break };
                // Its client may have used much since it came.
                job.kind = self.kind(job.caller, now);
                if job.kind > kind {
                    self.put(job);
                    continue;
                }
                return Some(self.begin(job));
            }
        }
        None
    }

    fn may_begin_long(&self, address: ClientKey) -> bool {
        count(&self.long_of, address) < self.limits.long_of_address
    }

    fn begin(&mut self, job: Job) -> Job {
        let client = job.caller.client;
        self.running[job.kind as usize] += 1;
        *self.running_of.entry(client).or_default() += 1;
        if job.kind == Kind::Long {
            *self.long_of.entry(client.address).or_default() += 1;
        }
        job
    }

    fn end(&mut self, client: Client, kind: Kind) {
        self.running[kind as usize] -= 1;
        subtract_one(&mut self.running_of, client);
        if kind == Kind::Long {
            subtract_one(&mut self.long_of, client.address);
        }
    }
}

fn count<K: Eq + Hash>(counts: &HashMap<K, usize, DefaultHashBuilder>, key: K) -> usize {
    counts.get(&key).copied().unwrap_or(0)
}

/// Counts one less, and forgets what is not there any more.
fn subtract_one<K: Eq + Hash>(counts: &mut HashMap<K, usize, DefaultHashBuilder>, key: K) {
    if let Entry::Occupied(mut entry) = counts.entry(key) {
        *entry.get_mut() -= 1;
        if *entry.get() == 0 {
            entry.remove();
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::Relaxed);
        // What runs, or ran, holds nothing in a queue.
        if Arc::strong_count(&self.given_up) == 1 {
            return;
        }
        let Client { address, connection } = self.client;
        let mut state = self.schedule.state.lock();
        let removed = state.waiting.iter_mut().find_map(|ring| {
            ring.remove(address, |lane| {
                lane.remove(connection, |jobs| {
                    let at = jobs.iter().position(|job| job.id == self.id)?;
                    jobs.remove(at)
                })
            })
        });
        drop(state);
        // What the job holds is let go of without the lock.
        drop(removed);
    }
}
