//! Verifications: compiling sources, and comparing the code with that of a contract.

use std::{
    collections::{HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use alloy_primitives::{Address, Bytes, hex, keccak256};
use parking_lot::{Condvar, Mutex};
use tetrad_stdx::{
    clock::Clock,
    ring::{Ring, WaitQueue},
};
use tokio::sync::watch;

use super::{
    code::CodeMatch,
    compiler_run::CompilerRun,
    compilers::{Compiler, CompilerVersion, Compilers},
    contract::{CompiledContract, Matches, version_in},
    known::KnownContracts,
    output::CompilerOutput,
    standard_json::{ContractName, StandardInput},
    store::VerifiedContract,
};

/// Compilers that run at once, and verifications that wait for one, in all and of one client.
const MAX_RUNNING: usize = 2;
const MAX_WAITING: usize = 16;
const MAX_WAITING_OF_CLIENT: usize = 4;

/// The time limit of a compiler.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Ended verifications whose result can be asked for, and for how long.
const MAX_ENDED: usize = 1_000;
const LIFETIME_MS: u64 = 60 * 60 * 1_000;

/// A contract on the chain.
#[derive(Clone, Debug)]
pub struct DeployedContract {
    /// Its address.
    pub address: Address,
    /// Its runtime code.
    pub code: Bytes,
    /// The input of the transaction that created it, if that is known and created no other contract
    /// before.
    pub creation: Option<Bytes>,
}

/// A request for a verification.
#[derive(Clone, Debug)]
pub struct VerificationRequest {
    /// The contract on the chain.
    pub deployed: DeployedContract,
    /// The sources.
    pub input: StandardInput,
    /// The contract in the sources.
    pub contract: ContractName,
    /// The compiler.
    pub compiler: CompilerVersion,
    /// The licence that the user names.
    pub license: Option<String>,
}

/// The reason why a verification cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The node runs no compilers.
    #[error("this node runs no compilers: start it with --solc-directory DIR to verify sources")]
    NoCompilers,
    /// The version is not there.
    #[error("{0}")]
    NoVersion(String),
    /// Others are waiting already.
    #[error("{MAX_WAITING} verifications are waiting: try again later")]
    Busy,
    /// Others of the same client are waiting already.
    #[error(
        "{MAX_WAITING_OF_CLIENT} of your verifications are waiting: try again when one has ended"
    )]
    TooMany,
}

/// The reason why a verification failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerificationError {
    /// The compiler cannot be run, or reports errors.
    #[error("{0}")]
    Compiler(String),
    /// The sources have no such contract.
    #[error("{0}")]
    NoContract(String),
    /// The code is another one.
    #[error("{0}")]
    NoMatch(String),
    /// The contract cannot be kept.
    #[error("{0}")]
    Store(String),
    /// The verification failed for no fault of its client.
    #[error("the verification failed")]
    Failed,
}

/// A verification.
#[derive(Clone, Debug)]
pub struct Verification {
    /// Its id.
    pub id: String,
    /// The contract.
    pub address: Address,
    /// The time of the request, in milliseconds since the Unix epoch.
    pub submitted_ms: u64,
    /// The time of the result.
    pub ended_ms: Option<u64>,
    /// The result; `None` while the verification waits or runs.
    pub result: Option<Result<Matches, VerificationError>>,
}

/// The client of a verification, as an address of 16 bytes.
pub(super) type ClientId = [u8; 16];

/// Verifies sources in the background. Clones share the compilers.
#[derive(Clone)]
pub struct Verifier(Arc<SharedVerifier>);

struct SharedVerifier {
    compilers: Option<Compilers>,
    known: KnownContracts,
    clock: Arc<dyn Clock>,
    is_stopping: AtomicBool,
    queue: Mutex<Queue>,
    /// Signals that a thread has ended.
    ended: Condvar,
    /// Changes when a verification ends.
    last_end: watch::Sender<u64>,
}

#[derive(Default)]
struct Queue {
    /// The verifications that wait, by client: clients take turns.
    waiting: Ring<ClientId, VecDeque<(String, VerificationRequest)>>,
    waiting_count: usize,
    running: usize,
    /// The number of verifications so far.
    count: u64,
    verifications: HashMap<String, Verification>,
    /// Ids of ended verifications, the oldest first.
    ended: VecDeque<String>,
}

impl Verifier {
    /// A verifier with these compilers, if there are any, which adds to the known contracts.
    pub fn new(compilers: Option<Compilers>, known: KnownContracts, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(SharedVerifier {
            compilers,
            known,
            clock,
            is_stopping: AtomicBool::new(false),
            queue: Mutex::default(),
            ended: Condvar::new(),
            last_end: watch::Sender::new(0),
        }))
    }

    /// Returns the compilers.
    pub fn compilers(&self) -> Option<&Compilers> {
        self.0.compilers.as_ref()
    }

    /// Begins a verification for a client, and returns its id.
    pub fn submit(
        &self,
        client: ClientId,
        request: VerificationRequest,
    ) -> Result<String, SubmitError> {
        let compilers = self.0.compilers.as_ref().ok_or(SubmitError::NoCompilers)?;
        compilers
            .find(&request.compiler)
            .map_err(SubmitError::NoVersion)?;

        let now = self.0.clock.now_ms();

        let mut queue = self.0.queue.lock();
        if queue.waiting_count >= MAX_WAITING {
            return Err(SubmitError::Busy);
        }
        if queue
            .waiting
            .get(client)
            .is_some_and(|own| own.len() >= MAX_WAITING_OF_CLIENT)
        {
            return Err(SubmitError::TooMany);
        }

        queue.count += 1;
        let id = id(queue.count, now, request.deployed.address);
        let address = request.deployed.address;
        let verification = Verification {
            id: id.clone(),
            address,
            submitted_ms: now,
            ended_ms: None,
            result: None,
        };

        queue.verifications.insert(id.clone(), verification);
        queue.waiting.queue(client).push_back((id.clone(), request));
        queue.waiting_count += 1;

        if queue.running < MAX_RUNNING {
            let shared = self.0.clone();
            if thread::Builder::new()
                .name("verifier".to_owned())
                .spawn(move || shared.work())
                .is_ok()
            {
                queue.running += 1;
            } else if queue.running == 0 {
                // No thread would take it from the queue.
                queue.waiting.take_next();
                queue.waiting_count = 0;
                queue.verifications.remove(&id);
                return Err(SubmitError::Busy);
            }
        }
        Ok(id)
    }

    /// Returns a verification, for an hour after it ended.
    pub fn verification(&self, id: &str) -> Option<Verification> {
        let now = self.0.clock.now_ms();
        let queue = self.0.queue.lock();
        let found = queue.verifications.get(id)?;
        let is_old = found
            .ended_ms
            .is_some_and(|ended| now.saturating_sub(ended) > LIFETIME_MS);
        (!is_old).then(|| found.clone())
    }

    /// Returns a verification once it has ended, or as it stands after a while.
    pub async fn ended(&self, id: &str, timeout: Duration) -> Option<Verification> {
        let mut ended = self.0.last_end.subscribe();
        let wait = async { while self.is_pending(id) && ended.changed().await.is_ok() {} };
        let _ = tokio::time::timeout(timeout, wait).await;
        self.verification(id)
    }

    fn is_pending(&self, id: &str) -> bool {
        self.verification(id)
            .is_some_and(|found| found.result.is_none())
    }

    /// Ends running compilers.
    pub fn stop(&self) {
        // First, so that running compilers end while this waits for their threads.
        self.0.is_stopping.store(true, Ordering::Relaxed);
        let mut queue = self.0.queue.lock();
        queue.waiting = Ring::default();
        queue.waiting_count = 0;

        while queue.running > 0 {
            self.0.ended.wait(&mut queue);
        }
    }
}

impl SharedVerifier {
    /// Works on the queue until it is empty.
    fn work(&self) {
        loop {
            // The lock is not held while a compiler runs.
            let next = {
                let mut queue = self.queue.lock();
                let next = queue.waiting.take_next();
                if next.is_some() {
                    queue.waiting_count -= 1;
                } else {
                    queue.running -= 1;
                    self.ended.notify_all();
                }
                next
            };

            let Some((id, request)) = next else { return };

            let address = request.deployed.address;
            // A panic ends this verification only, not the thread.
            let verify = AssertUnwindSafe(|| self.verify(request));
            let result = catch_unwind(verify).unwrap_or(Err(VerificationError::Failed));
            match &result {
                Ok(matches) => {
                    let exact = matches.best() == Some(CodeMatch::Exact);
                    tracing::info!(%address, exact, "verified a contract");
                }
                Err(error) => tracing::info!(%address, %error, "a contract is not verified"),
            }

            let now = self.clock.now_ms();
            let mut queue = self.queue.lock();
            if let Some(verification) = queue.verifications.get_mut(&id) {
                verification.result = Some(result);
                verification.ended_ms = Some(now);
            }
            self.last_end.send_modify(|count| *count += 1);
            queue.ended.push_back(id);
            while queue.ended.len() > MAX_ENDED {
                if let Some(oldest) = queue.ended.pop_front() {
                    queue.verifications.remove(&oldest);
                }
            }
        }
    }

    fn verify(&self, request: VerificationRequest) -> Result<Matches, VerificationError> {
        let (contract, matches, constructor_arguments) = self.compile(&request)?;
        let document = VerifiedContract {
            version: VerifiedContract::VERSION,
            address: request.deployed.address,
            code_hash: keccak256(&request.deployed.code),
            matches,
            constructor_arguments,
            verified_at: self.clock.now_ms() / 1_000,
            license: request.license,
            contract,
        };

        self.known
            .add(document)
            .map_err(|error| VerificationError::Store(error.to_string()))?;
        Ok(matches)
    }

    fn compile(
        &self,
        request: &VerificationRequest,
    ) -> Result<(CompiledContract, Matches, Option<Bytes>), VerificationError> {
        let failed = VerificationError::Compiler;
        let compilers = self
            .compilers
            .as_ref()
            .ok_or_else(|| failed(SubmitError::NoCompilers.to_string()))?;
        let compiler = compilers.find(&request.compiler).map_err(failed)?;
        let output = self.run(&compiler, request).map_err(failed)?;

        let mut best: Option<(CompiledContract, Matches, Option<Bytes>)> = None;
        let mut candidates = 0;
        let mut without_code = 0;
        for (file, name, contract) in output.named(&request.contract) {
            // A program may be of another version than its name says.
            let version = contract.metadata.as_deref().and_then(version_in);
            let version = version.unwrap_or_else(|| compiler.version.to_string());
            if CompilerVersion::parse(&version)
                .is_some_and(|actual| !actual.agrees_with(&request.compiler))
            {
                return Err(failed(format!(
                    "the compiler {} is of version {version}, not {}",
                    compiler.program.display(),
                    request.compiler
                )));
            }

            let compiled =
                CompiledContract::new(&request.input, &output, (file, name, contract), &version);
            let Some(compiled) = compiled.map_err(failed)? else {
                without_code += 1;
                continue;
            };

            candidates += 1;
            let (matches, arguments) = compare(&compiled, &request.deployed);
            let best_so_far = best.as_ref().and_then(|(_, best, _)| best.best());
            let is_better = matches.best() > best_so_far;
            if is_better {
                best = Some((compiled, matches, arguments));
            }
        }

        best.ok_or_else(|| nothing_found(request, candidates, without_code))
    }

    /// Runs a compiler on the sources of a request.
    fn run(
        &self,
        compiler: &Compiler,
        request: &VerificationRequest,
    ) -> Result<CompilerOutput, String> {
        // Without the option it finds no file in its empty directory, and looks nowhere else.
        let arguments: &[&str] = if compiler.version.has_no_import_callback() {
            &["--standard-json", "--no-import-callback"]
        } else {
            &["--standard-json"]
        };
        let is_stopping = || self.is_stopping.load(Ordering::Relaxed);
        let run = CompilerRun {
            program: &compiler.program,
            arguments,
            time_limit: TIME_LIMIT,
            is_stopping: &is_stopping,
        };

        let input = request
            .input
            .for_compiler(&request.contract)
            .to_string()
            .into_bytes();
        CompilerOutput::parse(&run.output(input)?)
    }
}

/// The error of a verification without a match, by the numbers of contracts of the name that have
/// code, and that have none.
fn nothing_found(
    request: &VerificationRequest,
    candidates: usize,
    without_code: usize,
) -> VerificationError {
    let wanted = &request.contract;
    let wanted = [wanted.file.as_deref(), wanted.name.as_deref()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(":");
    let named = if wanted.is_empty() {
        String::new()
    } else {
        format!(" {wanted:?}")
    };

    match (candidates, without_code) {
        (0, 0) => VerificationError::NoContract(format!("the sources have no contract{named}")),
        (0, _) => VerificationError::NoContract(format!(
            "the contract{named} has no code: it is abstract or an interface"
        )),
        _ => VerificationError::NoMatch(format!(
            "the code at {} is not that of the contract{named}: sources, settings or compiler differ",
            request.deployed.address
        )),
    }
}

/// Compares compiled code with a contract's. Returns the arguments of the constructor, too, if its
/// creation is known.
fn compare(compiled: &CompiledContract, deployed: &DeployedContract) -> (Matches, Option<Bytes>) {
    let runtime = compiled
        .runtime_code
        .as_ref()
        .and_then(|code| code.match_runtime(&deployed.code));

    let created = compiled
        .creation_code
        .as_ref()
        .zip(deployed.creation.as_ref());
    let created = created.and_then(|(code, input)| code.match_creation(input));
    let creation: Option<CodeMatch> = created.as_ref().map(|(creation, _)| *creation);

    (
        Matches { runtime, creation },
        created.map(|(_, arguments)| arguments),
    )
}

/// An id in the form of a UUID, as Sourcify's clients expect.
fn id(count: u64, now: u64, address: Address) -> String {
    let hash = keccak256(
        [
            &count.to_be_bytes()[..],
            &now.to_be_bytes(),
            address.as_slice(),
        ]
        .concat(),
    );

    let part = |from: usize, to: usize| hex::encode(&hash[from..to]);
    format!(
        "{}-{}-4{}-8{}-{}",
        part(0, 4),
        part(4, 6),
        &part(6, 8)[1..],
        &part(8, 10)[1..],
        part(10, 16)
    )
}
