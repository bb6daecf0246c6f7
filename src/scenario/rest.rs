//! The REST interface, in the development profile or with the admin token.

use std::time::Duration;

use axum::{Router, extract::State};
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use tetrad_network::network::Network;
use tetrad_web::{
    Api, Interface, NoStore, Operation, Path, RestError, TomlBody, method_not_allowed,
    parameters::{ParameterValue, ValueError, parameters},
};

use super::{
    document::{DocumentError, ScenarioStep, ScenarioSummary, StepAction, When},
    ready_made::READY_MADE,
    run::{RunState, ScenarioRun, StepState},
    scenarios::{Scenarios, StartError},
};

/// A response.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{T}Response")]
struct ScenarioAnswer<T> {
    success: bool,
    data: T,
}

/// A scenario that was started.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Scenario")]
struct RunBody {
    id: u64,
    name: String,
    description: String,
    /// running, finished or stopped.
    state: &'static str,
    /// Milliseconds since the Unix epoch.
    started_at: u64,
    /// Milliseconds.
    lasts: u64,
    steps: Vec<StepBody>,
}

/// A step of a scenario.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ScenarioStep")]
struct StepBody {
    /// Milliseconds after the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<u64>,
    /// Blocks after the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u64>,
    /// price, silence, transaction, advance, reorg or fault.
    action: &'static str,
    /// waiting, sent, done, failed or skipped. A transaction is sent until it is in a block.
    state: &'static str,
    /// The result, such as a transaction's hash, or the reason for a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// A scenario that comes with the program.
#[derive(Serialize, JsonSchema)]
struct ReadyMadeScenario {
    /// The name that `--scenario` accepts.
    name: &'static str,
    title: String,
    description: String,
    /// Its document, to be posted as it is.
    document: &'static str,
}

impl ReadyMadeScenario {
    fn new(name: &'static str, document: &'static str) -> Self {
        let summary = ScenarioSummary::of(document);
        Self {
            name,
            title: summary.name,
            description: summary.description,
            document,
        }
    }
}

/// The id of a scenario.
struct ScenarioId(u64);

impl ParameterValue for ScenarioId {
    const MAY_BE_UNKNOWN: bool = true;

    fn schema() -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": i64::MAX })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        text.parse()
            .map(Self)
            .map_err(|_| ValueError::malformed("expected a scenario's id"))
    }
}

parameters! {
    /// The path of a route about one scenario.
    struct ScenarioPath {
        /// The scenario's id.
        #[param("id", example = "1")]
        id: ScenarioId,
    }
}

impl Interface for Scenarios {
    type Error = RestError;

    fn network(&self) -> &Network {
        self.network()
    }
}

/// The routes under `/api/admin/scenarios` and their description.
pub fn router(scenarios: Scenarios) -> (Router, Vec<Operation>) {
    Api::new("Development")
        .get(
            "/api/admin/scenarios",
            list,
            "Scenarios that were started, the newest first.",
        )
        .named("getScenarios")
        .post_toml("/api/admin/scenarios", start, "Starts a scenario.")
        .named("startScenario")
        .get(
            "/api/admin/scenarios/ready-made",
            ready_made,
            "Scenarios that come with the program.",
        )
        .named("getReadyMadeScenarios")
        .delete(
            "/api/admin/scenarios/{id}",
            stop,
            "Stops a scenario, which releases what it holds.",
        )
        .named("stopScenario")
        .and(|router| router.method_not_allowed_fallback(method_not_allowed))
        .with_state(scenarios)
}

impl From<DocumentError> for RestError {
    fn from(error: DocumentError) -> Self {
        Self::parameter("scenario", error.to_string())
    }
}

impl From<StartError> for RestError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Document(error) => error.into(),
            StartError::TooMany => Self::Unavailable(error.to_string()),
        }
    }
}

type ScenarioBody<T> = NoStore<ScenarioAnswer<T>>;

fn answer<T>(data: T) -> ScenarioBody<T> {
    NoStore(ScenarioAnswer {
        success: true,
        data,
    })
}

async fn list(State(scenarios): State<Scenarios>) -> ScenarioBody<Vec<RunBody>> {
    answer(
        scenarios
            .list()
            .iter()
            .map(|run| RunBody::from(&**run))
            .collect(),
    )
}

async fn ready_made() -> ScenarioBody<Vec<ReadyMadeScenario>> {
    let scenarios = READY_MADE.map(|(name, document)| ReadyMadeScenario::new(name, document));
    answer(scenarios.into())
}

async fn start(
    State(scenarios): State<Scenarios>,
    TomlBody(text): TomlBody,
) -> Result<ScenarioBody<RunBody>, RestError> {
    Ok(answer(RunBody::from(&*scenarios.start_document(&text)?)))
}

async fn stop(
    State(scenarios): State<Scenarios>,
    Path(path): Path<ScenarioPath>,
) -> Result<ScenarioBody<RunBody>, RestError> {
    let ScenarioId(id) = path.id;
    let run = scenarios
        .find(id)
        .ok_or_else(|| RestError::NotFound(format!("no scenario {id}")))?;

    run.stop().await;
    Ok(answer(RunBody::from(&*run)))
}

impl From<&ScenarioRun> for RunBody {
    fn from(run: &ScenarioRun) -> Self {
        let lasts = run.scenario.lasts;
        Self {
            id: run.id,
            name: run.scenario.name.clone(),
            description: run.scenario.description.clone(),
            state: match run.state() {
                RunState::Running => "running",
                RunState::Finished => "finished",
                RunState::Stopped => "stopped",
            },
            started_at: run.started_ms,
            lasts: millis(lasts),
            steps: run
                .progress()
                .into_iter()
                .map(|(step, state)| StepBody::new(step, state, lasts))
                .collect(),
        }
    }
}

impl StepBody {
    /// Describes a step of a scenario that lasts as long as given.
    fn new(step: &ScenarioStep, state: StepState, lasts: Duration) -> Self {
        let (state, detail) = match state {
            StepState::Waiting => ("waiting", None),
            StepState::Sent(hash) => ("sent", Some(hash.to_string())),
            StepState::Done(detail) => ("done", Some(detail)),
            StepState::Failed(detail) => ("failed", Some(detail)),
            StepState::Skipped => ("skipped", None),
        };
        let (at, block) = match step.when {
            When::After(after) => (Some(millis(after)), None),
            When::Block(block) => (None, Some(block)),
            When::End => (Some(millis(lasts)), None),
        };
        Self {
            at,
            block,
            action: step.action.name(),
            state,
            detail,
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl StepAction {
    /// Its key in a document.
    fn name(&self) -> &'static str {
        match self {
            Self::Price { .. } => "price",
            Self::Silence { .. } => "silence",
            Self::Transaction(_) => "transaction",
            Self::Advance(_) => "advance",
            Self::Reorg(_) => "reorg",
            Self::Fault { .. } => "fault",
        }
    }
}
