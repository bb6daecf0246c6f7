//! Artifacts of a development tool, by whose code deployed contracts are identified: foundry's
//! `out/` and hardhat's `artifacts/`.

use std::{
    collections::{BTreeMap, HashMap},
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use alloy_primitives::{B256, keccak256};
use serde::Deserialize;
use serde_json::Value;
use tetrad_stdx::text::excerpt;

use super::{
    code::{CodeMatch, CompiledCode, Reference, body_length},
    contract::{
        CompiledContract, ContractSource, KnownContract, Matches, Origin, parse_abi, version_in,
    },
    output::{CompilerCode, CompilerOutput, LinkReferences, code},
    signatures::Signatures,
    standard_json::{ContractName, StandardInput},
};

/// The most builds in which the numbers of files are looked up.
const MAX_BUILDS: usize = 1_000;

/// The most bytes of all artifacts' codes and ABIs together.
const MAX_TOTAL: usize = 256 << 20;

/// The most bytes of a source file.
const MAX_SOURCE: u64 = 4 << 20;

/// The artifacts that have code, and the signatures of all.
#[derive(Default)]
pub(super) struct ArtifactSet {
    /// By the length of the code without metadata.
    by_length: HashMap<usize, Vec<Arc<Artifact>>>,
    pub(super) signatures: Signatures,
}

/// An artifact.
pub(super) struct Artifact {
    name: String,
    signatures: Signatures,
    runtime: Option<CompiledCode>,
    source: Arc<ArtifactSource>,
    /// About how many bytes it takes up.
    size: usize,
}

/// The place of an artifact.
struct ArtifactSource {
    directory: PathBuf,
    /// The file.
    path: PathBuf,
    /// The contract in a file with many.
    contract: Option<(String, String)>,
}

impl ArtifactSet {
    pub(super) fn new(artifacts: impl Iterator<Item = Arc<Artifact>>) -> Self {
        let mut set = Self::default();
        let mut total = 0;
        for artifact in artifacts {
            total += artifact.size;
            if total > MAX_TOTAL {
                tracing::warn!(
                    "--artifacts: more than {MAX_TOTAL} bytes of code and ABIs; the rest is left out"
                );
                break;
            }

            set.signatures.extend(&artifact.signatures);
            if let Some(code) = &artifact.runtime {
                set.by_length
                    .entry(code.body_length())
                    .or_default()
                    .push(artifact);
            }
        }
        set
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_length.is_empty()
    }

    /// Returns the contract that has this code.
    pub(super) fn identify(&self, hash: B256, deployed: &[u8]) -> Option<Arc<KnownContract>> {
        let mut best: Option<(CodeMatch, &Arc<Artifact>)> = None;
        for artifact in self
            .by_length
            .get(&body_length(deployed))
            .into_iter()
            .flatten()
        {
            let matched = artifact
                .runtime
                .as_ref()
                .and_then(|code| code.match_runtime(deployed));
            let Some(matched) = matched else { continue };

            // A file with everything about a build comes after the artifacts, and is preferred.
            let is_better = best.is_none_or(|(best, other)| {
                matched > best
                    || (matched == best
                        && artifact.source.contract.is_some()
                        && other.source.contract.is_none())
            });
            if is_better {
                best = Some((matched, artifact));
            }
        }

        let (matched, artifact) = best?;
        Some(Arc::new(KnownContract {
            label: artifact.name.clone(),
            name: artifact.name.clone(),
            signatures: artifact.signatures.clone(),
            origin: Origin::Artifact,
            matches: Matches {
                runtime: Some(matched),
                creation: None,
            },
            constructor_arguments: None,
            verified_at: None,
            license: None,
            code_hash: hash,
            source: artifact.source.clone(),
        }))
    }
}

/// A file of any tool. Members that a tool does not write are empty.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawFile {
    abi: Option<Value>,
    bytecode: Option<RawCode>,
    deployed_bytecode: Option<RawCode>,
    /// Foundry's metadata, as the compiler wrote it.
    raw_metadata: Option<String>,
    /// The layout of the storage, if foundry was told to write it.
    #[serde(default)]
    storage_layout: Value,
    /// Foundry's number of the file, or the name of a build.
    id: Option<Value>,
    contract_name: Option<String>,
    source_name: Option<String>,
    /// Hardhat's positions.
    #[serde(default)]
    link_references: LinkReferences,
    #[serde(default)]
    deployed_link_references: LinkReferences,
    #[serde(default)]
    immutable_references: BTreeMap<String, Vec<Reference>>,
    /// The compiler's input and output, of a build.
    input: Option<RawInput>,
    output: Option<CompilerOutput>,
    solc_long_version: Option<String>,
    /// The numbers of files, of foundry's builds.
    #[serde(rename = "source_id_to_path", default)]
    source_ids: BTreeMap<u32, String>,
}

#[derive(Deserialize)]
struct RawInput {
    language: Option<String>,
    #[serde(default)]
    sources: BTreeMap<String, RawSource>,
    #[serde(default)]
    settings: serde_json::Map<String, Value>,
}

/// The compiler's metadata, as far as a contract needs it.
#[derive(Default, Deserialize)]
struct RawMetadata {
    #[serde(default)]
    language: String,
    #[serde(default)]
    settings: serde_json::Map<String, Value>,
    #[serde(default)]
    sources: BTreeMap<String, RawMetadataSource>,
    #[serde(default)]
    output: RawDocumentation,
}

#[derive(Deserialize)]
struct RawMetadataSource {
    keccak256: Option<B256>,
    content: Option<String>,
}

#[derive(Default, Deserialize)]
struct RawDocumentation {
    #[serde(default)]
    devdoc: Value,
    #[serde(default)]
    userdoc: Value,
}

#[derive(Deserialize)]
struct RawSource {
    content: Option<String>,
}

/// Code as hardhat writes it, or as foundry and the compiler do.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawCode {
    Digits(String),
    Object(CompilerCode),
}

impl RawInput {
    fn into_input(self) -> StandardInput {
        let sources = self
            .sources
            .into_iter()
            .filter_map(|(path, source)| Some((path, source.content?)));
        StandardInput {
            language: self.language.unwrap_or_else(|| "Solidity".to_owned()),
            sources: sources.collect(),
            settings: self.settings,
        }
    }
}

/// The source map of code; empty where the tool does not write it.
fn source_map(code: Option<&RawCode>) -> String {
    match code {
        Some(RawCode::Object(object)) => object.source_map.clone(),
        _ => String::new(),
    }
}

impl RawFile {
    fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }

    fn creation_code(&self) -> Option<CompiledCode> {
        match self.bytecode.as_ref()? {
            RawCode::Digits(digits) => code(digits, &self.link_references, &BTreeMap::new()),
            RawCode::Object(object) => object.code(),
        }
        .ok()?
    }

    fn runtime_code(&self) -> Result<Option<CompiledCode>, String> {
        match &self.deployed_bytecode {
            None => Ok(None),
            Some(RawCode::Digits(digits)) => code(
                digits,
                &self.deployed_link_references,
                &self.immutable_references,
            ),
            Some(RawCode::Object(object)) => object.code(),
        }
    }
}

/// Reads the artifacts of a file; none of one that is something else.
pub(super) fn read_artifacts(directory: &Path, path: &Path) -> Result<Vec<Arc<Artifact>>, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let raw: RawFile = match serde_json::from_slice(&bytes) {
        Ok(raw) => raw,
        // A file that is being written ends early. One of another tool has members of other types.
        Err(error) if error.is_eof() => return Err(error.to_string()),
        Err(_) => return Ok(Vec::new()),
    };

    if let Some(output) = &raw.output {
        return Ok(artifacts_of_build(output, directory, path));
    }
    let Some(abi) = &raw.abi else {
        return Ok(Vec::new());
    };

    let stem = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    let name = raw.contract_name.as_deref().unwrap_or(stem);

    let runtime = raw.runtime_code().unwrap_or_else(|error| {
        tracing::debug!(%error, path = %path.display(), "an artifact's code is not understood");
        None
    });

    let source = ArtifactSource::new(directory, path, None);
    Ok(vec![Arc::new(Artifact::new(name, abi, runtime, source))])
}

/// The artifacts of a file with the compiler's output. ABIs without code are left out: they are in
/// the artifacts as well.
fn artifacts_of_build(
    output: &CompilerOutput,
    directory: &Path,
    path: &Path,
) -> Vec<Arc<Artifact>> {
    let mut artifacts = Vec::new();
    for (file, name, contract) in output.named(&ContractName::default()) {
        let runtime = contract.evm.deployed_bytecode.code().ok().flatten();
        if runtime.is_some() {
            let place = (file.to_owned(), name.to_owned());
            let source = ArtifactSource::new(directory, path, Some(place));
            let artifact = Artifact::new(name, &contract.abi, runtime, source);
            artifacts.push(Arc::new(artifact));
        }
    }
    artifacts
}

impl Artifact {
    fn new(
        name: &str,
        abi: &Value,
        runtime: Option<CompiledCode>,
        source: Arc<ArtifactSource>,
    ) -> Self {
        let size = 256
            + name.len()
            + 4 * abi.to_string().len()
            + runtime.as_ref().map_or(0, |code| code.bytes().len());
        Self {
            name: excerpt(name, 256).to_owned(),
            signatures: Signatures::from(&parse_abi(abi)),
            runtime,
            source,
            size,
        }
    }
}

impl ContractSource for ArtifactSource {
    fn read(&self) -> io::Result<CompiledContract> {
        let raw = RawFile::read(&self.path)?;
        match &self.contract {
            Some((file, name)) => self.of_build(raw, file, name),
            None => self.of_artifact(&raw),
        }
    }
}

impl ArtifactSource {
    fn new(directory: &Path, path: &Path, contract: Option<(String, String)>) -> Arc<Self> {
        Arc::new(Self {
            directory: directory.to_owned(),
            path: path.to_owned(),
            contract,
        })
    }

    fn missing(&self, file: &str, name: &str) -> io::Error {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("{}: no {file}:{name}", self.path.display()),
        )
    }

    /// Takes a contract from a build. Hardhat 3 has the input beside it, in a file without
    /// `.output`.
    fn of_build(&self, raw: RawFile, file: &str, name: &str) -> io::Result<CompiledContract> {
        let missing = || self.missing(file, name);
        let output = raw.output.ok_or_else(missing)?;
        let (input, version) = match raw.input {
            Some(input) => (input, raw.solc_long_version),
            None => {
                let path = self.path.to_string_lossy().replace(".output.json", ".json");
                let beside = RawFile::read(Path::new(&path))?;
                (beside.input.ok_or_else(missing)?, beside.solc_long_version)
            }
        };

        let contract = output
            .contracts
            .get(file)
            .and_then(|contracts| contracts.get(name))
            .ok_or_else(missing)?;

        let version = contract
            .metadata
            .as_deref()
            .and_then(version_in)
            .or(version)
            .unwrap_or_default();

        let compiled = CompiledContract::new(
            &input.into_input(),
            &output,
            (file, name, contract),
            &version,
        );
        compiled.map_err(io::Error::other)?.ok_or_else(missing)
    }

    /// Takes the contract of an artifact. Its sources are read from the project, if they are still
    /// the same.
    fn of_artifact(&self, raw: &RawFile) -> io::Result<CompiledContract> {
        let metadata = raw.raw_metadata.clone();
        let mut parsed: RawMetadata = metadata
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();

        // Metadata has it among the settings, where compilers refuse it.
        let target = parsed.settings.remove("compilationTarget");
        let target = target
            .as_ref()
            .and_then(|target| target.as_object()?.iter().next());

        let stem = self
            .path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        let (file, name) = match target {
            Some((file, name)) => (file.clone(), name.as_str().unwrap_or(stem).to_owned()),
            None => (
                raw.source_name.clone().unwrap_or_default(),
                raw.contract_name.clone().unwrap_or_else(|| stem.to_owned()),
            ),
        };

        // Paths of sources begin at the project, in which the directory of artifacts is.
        let root = self.directory.parent().unwrap_or(&self.directory);
        let sources = parsed.sources.into_iter().filter_map(|(path, source)| {
            let content = source
                .content
                .or_else(|| read_source(root, &path, source.keccak256?))?;
            Some((path, content))
        });

        let version = metadata.as_deref().and_then(version_in).unwrap_or_default();
        Ok(CompiledContract {
            sources: sources.collect(),
            source_ids: self.source_ids(raw, &file),
            file,
            name,
            language: if parsed.language.is_empty() {
                "Solidity".to_owned()
            } else {
                parsed.language
            },
            compiler_version: version,
            settings: Value::Object(parsed.settings),
            abi: raw.abi.clone().unwrap_or_default(),
            metadata,
            devdoc: parsed.output.devdoc,
            userdoc: parsed.output.userdoc,
            storage_layout: raw.storage_layout.clone(),
            creation_code: raw.creation_code(),
            runtime_code: raw.runtime_code().map_err(io::Error::other)?,
            source_map: source_map(raw.deployed_bytecode.as_ref()),
            creation_source_map: source_map(raw.bytecode.as_ref()),
        })
    }

    /// The numbers of files, from the build of foundry in which the artifact's file has the
    /// artifact's number.
    fn source_ids(&self, raw: &RawFile, file: &str) -> BTreeMap<u32, String> {
        let own = raw
            .id
            .as_ref()
            .and_then(Value::as_u64)
            .and_then(|id| u32::try_from(id).ok());
        let Some(own) = own else {
            return BTreeMap::new();
        };

        let builds = fs::read_dir(self.directory.join("build-info"))
            .into_iter()
            .flatten()
            .flatten();
        let mut builds: Vec<_> = builds
            .take(MAX_BUILDS)
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        builds.sort();

        let newest_first = builds.into_iter().rev();
        let mut ids = newest_first
            .filter_map(|(_, path)| RawFile::read(&path).ok())
            .map(|build| build.source_ids);
        ids.find(|ids| ids.get(&own).is_some_and(|path| path == file))
            .unwrap_or_default()
    }
}

/// Reads a source file of a project, if it is the one that was compiled. Its hash decides, wherever
/// the path leads: a project may have libraries beside it, and links.
fn read_source(root: &Path, path: &str, hash: B256) -> Option<String> {
    let file = root.join(path);
    let is_small = fs::metadata(&file).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_SOURCE);

    let content = is_small.then(|| fs::read(&file).ok())??;
    (keccak256(&content) == hash).then(|| String::from_utf8(content).ok())?
}
