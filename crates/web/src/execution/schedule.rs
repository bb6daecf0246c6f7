//! The order in which executions get threads.
//!
//! Clients take turns: addresses first, then the connections of an address, so that neither a long
//! queue nor many connections get more than their share. Work that is known to take long waits
//! apart and never holds all threads, so that a light client finds a free one whatever the others
//! do.

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
use tetrad_stdx::{
    parallel,
    ring::{Ring, WaitQueue},
};
use tokio::runtime::Handle;

use super::slice::run_until;
use crate::{Client, ClientKey};

/// The recent execution time from which a connection counts as heavy.
const HEAVY_CONNECTION: Duration = Duration::from_millis(50);
/// The same for an address, which many users may share.
const HEAVY_ADDRESS: Duration = Duration::from_millis(500);
/// The half-life of recent execution time.
const HALF_LIFE: Duration = Duration::from_secs(1);
/// The number of concurrent executions of one connection beyond which its others wait among the
/// long ones.
const AT_ONCE: usize = 2;
/// The duration up to which an execution does not count as use, like executions on the task that
/// received the request.
const NEGLIGIBLE: Duration = Duration::from_millis(1);
/// The least number of concurrent executions where there are few processors: with fewer, one
/// address would have a single long execution at a time, and its second would wait for the time
/// limit of the first.
const LEAST_AT_ONCE: usize = 8;
/// The interval at which clients without recent use are dropped.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// The client of an execution, and its known properties.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caller {
    /// The client.
    pub client: Client,
    /// Whether the work is known to take long.
    pub long: bool,
    /// Whether the work may wait for another node, without using a processor meanwhile.
    pub remote: bool,
}

/// The classes of waiting work, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum JobClass {
    /// Work of a client that has used little.
    Light,
    /// Work of a connection that has used little, from an address that has used much.
    Crowded,
    /// Everything else.
    Long,
}

/// The classes in the order in which their jobs start.
const CLASSES: [JobClass; 3] = [JobClass::Light, JobClass::Crowded, JobClass::Long];

/// The numbers of concurrent executions.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// All executions.
    all: usize,
    /// All but the light ones.
    heavy: usize,
    /// Crowded executions, which leave threads to long ones.
    crowded: usize,
    /// Long executions.
    long: usize,
    /// Long executions of one address, which leave a thread to other addresses.
    long_of_address: usize,
}

impl Limits {
    fn new(all: usize) -> Self {
        let long = (all / 2).max(1);
        let heavy = (all * 3 / 4).max(1);
        let crowded = (heavy - long / 2).max(1);
        Self {
            all,
            heavy,
            crowded,
            long,
            long_of_address: (long - 1).max(1),
        }
    }

    /// Whether one more execution of this class may start.
    fn permit(&self, class: JobClass, running: &[usize; 3]) -> bool {
        let [light, crowded, long] = *running;
        let has_thread = light + crowded + long < self.all;
        let has_heavy_thread = crowded + long < self.heavy;

        match class {
            JobClass::Light => has_thread,
            JobClass::Crowded => has_thread && has_heavy_thread && crowded < self.crowded,
            JobClass::Long => has_thread && has_heavy_thread && long < self.long,
        }
    }
}

/// An execution that waits.
struct Job {
    id: u64,
    caller: Caller,
    class: JobClass,
    given_up: Arc<AtomicBool>,
    run: Box<dyn FnOnce() + Send>,
}

/// Recent execution time of a connection or an address.
#[derive(Clone, Copy, Debug)]
struct RecentUsage {
    used: Duration,
    at: Instant,
}

impl RecentUsage {
    fn none(now: Instant) -> Self {
        Self {
            used: Duration::ZERO,
            at: now,
        }
    }

    /// The use after decay.
    fn recent(&self, now: Instant) -> Duration {
        let halvings =
            now.saturating_duration_since(self.at).as_secs_f64() / HALF_LIFE.as_secs_f64();
        self.used.mul_f64(0.5_f64.powf(halvings))
    }

    fn add(&mut self, took: Duration, now: Instant) {
        self.used = self.recent(now) + took;
        self.at = now;
    }
}

type Usages<K> = HashMap<K, RecentUsage, DefaultHashBuilder>;

struct ScheduleState {
    waiting: [Ring<ClientKey, Ring<u64, VecDeque<Job>>>; 3],
    running: [usize; 3],
    /// The number of running executions by connection.
    running_of: HashMap<Client, usize, DefaultHashBuilder>,
    /// The number of running long executions by address.
    long_of: HashMap<ClientKey, usize, DefaultHashBuilder>,
    connections: Usages<Client>,
    addresses: Usages<ClientKey>,
    swept: Instant,
    last_id: u64,
    /// The number of executions that wait or run, and may wait for another node.
    remote: usize,
    limits: Limits,
}

/// The queues, and the recent use of each client.
pub(super) struct ExecutionSchedule {
    state: Mutex<ScheduleState>,
    /// The number of connections with recent use. While it is zero, no lock has to be taken.
    known: AtomicUsize,
    /// The limits of executions that use a processor. More than processors can run would only take
    /// memory.
    local: Limits,
    /// The limits of executions that mostly wait for another node.
    remote: Limits,
    handle: Handle,
}

/// An execution with a waiting caller. Dropping it cancels the execution.
pub(super) struct Ticket<'s> {
    schedule: &'s ExecutionSchedule,
    id: u64,
    client: Client,
    given_up: Arc<AtomicBool>,
}

impl ExecutionSchedule {
    /// A schedule with at most `threads` concurrent executions.
    pub(super) fn new(threads: usize, handle: Handle) -> Self {
        let processors = parallel::processors();
        let local = Limits::new(threads.min((4 * processors).max(LEAST_AT_ONCE)));
        let remote = Limits::new(threads);

        let state = ScheduleState {
            waiting: Default::default(),
            running: [0; 3],
            running_of: HashMap::default(),
            long_of: HashMap::default(),
            connections: Usages::default(),
            addresses: Usages::default(),
            swept: Instant::now(),
            last_id: 0,
            remote: 0,
            limits: local,
        };

        Self {
            state: Mutex::new(state),
            known: AtomicUsize::new(0),
            local,
            remote,
            handle,
        }
    }

    /// Whether the connection has used so much that its work should not begin on a task of the
    /// runtime.
    pub(super) fn is_heavy(&self, client: Client) -> bool {
        if self.known.load(Ordering::Relaxed) == 0 {
            return false;
        }

        let now = Instant::now();
        let mut state = self.state.lock();
        // Idle clients are not charged again, so that a sweep on charges alone would keep them.
        state.sweep(now);
        self.known.store(state.connections.len(), Ordering::Relaxed);
        state
            .connections
            .get(&client)
            .is_some_and(|usage| usage.recent(now) > HEAVY_CONNECTION)
    }

    /// Counts a client's execution elsewhere.
    pub(super) fn charge(&self, client: Client, took: Duration) {
        let mut state = self.state.lock();
        state.charge(client, took, Instant::now());
        self.known.store(state.connections.len(), Ordering::Relaxed);
    }

    /// Runs `run` when it is the caller's turn.
    pub(super) fn submit(
        self: &Arc<Self>,
        caller: Caller,
        run: Box<dyn FnOnce() + Send>,
    ) -> Ticket<'_> {
        let given_up = Arc::<AtomicBool>::default();

        let mut state = self.state.lock();
        state.remote += usize::from(caller.remote);
        self.set_limits(&mut state);

        state.last_id += 1;
        let id = state.last_id;

        let now = Instant::now();
        let class = state.class(caller, now);
        let next = state.admit(
            Job {
                id,
                caller,
                class,
                given_up: given_up.clone(),
                run,
            },
            now,
        );
        // Spawning may start a thread; other submitters should not wait for that.
        drop(state);

        if let Some(job) = next {
            let own = self.clone();
            self.handle.spawn_blocking(move || own.work(job));
        }

        Ticket {
            schedule: self,
            id,
            client: caller.client,
            given_up,
        }
    }

    /// While executions wait for another node, their threads occupy no processors: more of them
    /// may run, of any client.
    fn set_limits(&self, state: &mut ScheduleState) {
        state.limits = if state.remote > 0 {
            self.remote
        } else {
            self.local
        };
    }

    /// Runs a job, then others while any may start.
    fn work(&self, mut job: Job) {
        loop {
            let caller = job.caller;
            let class = job.class;
            let began = Instant::now();
            run_until(job.given_up, job.run);

            let mut state = self.state.lock();
            let now = Instant::now();
            state.end(caller.client, class);
            state.remote -= usize::from(caller.remote);
            self.set_limits(&mut state);

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

impl ScheduleState {
    fn charge(&mut self, client: Client, took: Duration, now: Instant) {
        self.connections
            .entry(client)
            .or_insert_with(|| RecentUsage::none(now))
            .add(took, now);
        self.addresses
            .entry(client.address)
            .or_insert_with(|| RecentUsage::none(now))
            .add(took, now);
        self.sweep(now);
    }

    fn sweep(&mut self, now: Instant) {
        if now - self.swept < SWEEP_INTERVAL {
            return;
        }
        self.swept = now;

        let counts = |usage: &RecentUsage| usage.recent(now) > HEAVY_CONNECTION / 10;
        self.connections.retain(|_, usage| counts(usage));
        self.addresses.retain(|_, usage| counts(usage));
    }

    fn class(&self, caller: Caller, now: Instant) -> JobClass {
        let connection = self.connections.get(&caller.client);
        let address = self.addresses.get(&caller.client.address);
        let running = self.running_of.get(&caller.client);

        if caller.long
            || running.is_some_and(|running| *running >= AT_ONCE)
            || connection.is_some_and(|usage| usage.recent(now) > HEAVY_CONNECTION)
        {
            JobClass::Long
        } else if address.is_some_and(|usage| usage.recent(now) > HEAVY_ADDRESS) {
            JobClass::Crowded
        } else {
            JobClass::Light
        }
    }

    /// Starts the job if none waits and a thread is free. Otherwise it is queued, and the job whose
    /// turn it is starts.
    fn admit(&mut self, job: Job, now: Instant) -> Option<Job> {
        // A new job must not overtake queued ones.
        if self.waiting.iter().all(WaitQueue::is_empty)
            && self.limits.permit(job.class, &self.running)
            && (job.class < JobClass::Long || self.may_begin_long(job.caller.client.address))
        {
            return Some(self.begin(job));
        }
        self.put(job);
        self.take_next(now)
    }

    fn put(&mut self, job: Job) {
        let Client {
            address,
            connection,
        } = job.caller.client;
        self.waiting[job.class as usize]
            .queue(address)
            .queue(connection)
            .push_back(job);
    }

    /// Starts the job whose turn it is, if a thread is free.
    fn take_next(&mut self, now: Instant) -> Option<Job> {
        for class in CLASSES {
            while self.limits.permit(class, &self.running) {
                let long_of = &self.long_of;
                let most = self.limits.long_of_address;
                let may_begin =
                    |address: &ClientKey| class < JobClass::Long || count(long_of, *address) < most;
                let Some(mut job) = self.waiting[class as usize].take_where(may_begin) else {
                    break;
                };

                // Its client may have used much since the job was queued.
                job.class = self.class(job.caller, now);
                if job.class > class {
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
        self.running[job.class as usize] += 1;
        *self.running_of.entry(client).or_default() += 1;
        if job.class == JobClass::Long {
            *self.long_of.entry(client.address).or_default() += 1;
        }
        job
    }

    fn end(&mut self, client: Client, class: JobClass) {
        self.running[class as usize] -= 1;
        subtract_one(&mut self.running_of, client);
        if class == JobClass::Long {
            subtract_one(&mut self.long_of, client.address);
        }
    }
}

fn count<K: Eq + Hash>(counts: &HashMap<K, usize, DefaultHashBuilder>, key: K) -> usize {
    counts.get(&key).copied().unwrap_or(0)
}

/// Decrements a counter, and removes it at zero.
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
        // A running or finished job is in no queue.
        if Arc::strong_count(&self.given_up) == 1 {
            return;
        }

        let Client {
            address,
            connection,
        } = self.client;

        let mut state = self.schedule.state.lock();
        let removed = state.waiting.iter_mut().find_map(|ring| {
            ring.remove(address, |lane| {
                lane.remove(connection, |jobs| {
                    let at = jobs.iter().position(|job| job.id == self.id)?;
                    jobs.remove(at)
                })
            })
        });

        if let Some(job) = &removed {
            state.remote -= usize::from(job.caller.remote);
            self.schedule.set_limits(&mut state);
        }

        drop(state);
        // The job is dropped without holding the lock.
        drop(removed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_two_long_executions_at_once_on_few_processors() {
        let limits = Limits::new(LEAST_AT_ONCE);
        assert!(
            limits.long_of_address >= 2 && limits.long > limits.long_of_address,
            "{limits:?}"
        );
    }

    /// Adds executions of a class to those that run, as many as the limits permit.
    fn fill(limits: Limits, class: JobClass, mut running: [usize; 3]) -> [usize; 3] {
        while limits.permit(class, &running) {
            running[class as usize] += 1;
        }
        running
    }

    #[test]
    fn no_class_takes_the_threads_of_all_others() {
        for all in [3, 4, 8, 16, 32] {
            let limits = Limits::new(all);
            let crowded = fill(limits, JobClass::Crowded, [0; 3]);
            assert!(
                limits.permit(JobClass::Long, &crowded) || all < 4,
                "{all}: {crowded:?}"
            );

            let long = fill(limits, JobClass::Long, [0; 3]);
            assert!(limits.permit(JobClass::Crowded, &long), "{all}: {long:?}");

            let both = fill(limits, JobClass::Long, crowded);
            assert!(limits.permit(JobClass::Light, &both), "{all}: {both:?}");
        }
    }
}
