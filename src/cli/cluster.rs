//! `tetrad cluster`: what an operator does with a cluster. The commands take the settings of a
//! node.

use std::{
    io::{self, Write},
    sync::Arc,
};

use tetrad_cluster::{
    ClusterError,
    commands::{self, NodeCommand, Status},
};
use tetrad_store::{
    log::{Durability, LocalLogs},
    store::{DataDir, DataDirError},
};

use crate::config::Config;

/// The commands, with their help.
pub(super) const COMMANDS: [(&str, &str); 5] = [
    (
        "status",
        "Print the nodes of the cluster with role, epoch, height and lag",
    ),
    (
        "init",
        "Make the chain in the data directory that of a new cluster; no node may run on it",
    ),
    (
        "step-down",
        "Have the leader let another node lead, for maintenance",
    ),
    (
        "leave",
        "Take the node with this --node-name out of service: it leads no more, and is not ready for clients",
    ),
    (
        "compact",
        "Remove the entries of the log that no joining node needs",
    ),
];

/// The error of a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command is about a cluster, and none is configured.
    #[error("no cluster is configured: name its NATS servers with --cluster")]
    NoCluster,
    /// The command needs the data directory.
    #[error("name the data directory with --data-dir")]
    NoDirectory,
    /// The host has no name.
    #[error("the host has no name: name the node with --node-name")]
    NoName,
    /// The directory cannot be used.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The cluster cannot be used.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// A system call failed.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// Runs a command and prints its result to `out`.
pub(super) fn run(command: &str, config: &Config, out: &mut dyn Write) -> Result<(), Error> {
    if !config.cluster.is_enabled() {
        return Err(Error::NoCluster);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let cluster = &config.cluster;

    match command {
        "init" => {
            let path = config.data_dir.as_deref().ok_or(Error::NoDirectory)?;
            let directory = DataDir::open(path)?;
            let storage = directory.storage();
            let log = Arc::new(LocalLogs::new(storage.clone()).with_durability(Durability::Os));
            let count = runtime.block_on(commands::init(cluster, path, storage, log))?;
            writeln!(
                out,
                "the cluster {} has the chain, with {count} entries: start the node",
                cluster.name
            )?;
        }
        "step-down" => {
            let leader = runtime.block_on(commands::status(cluster))?.leader;
            let Some(leader) = leader else {
                return Ok(writeln!(out, "no node leads the cluster")?);
            };
            let answer =
                runtime.block_on(commands::ask(cluster, &leader, NodeCommand::StepDown))?;
            writeln!(out, "{leader}: {answer}")?;
        }
        "leave" => {
            let node = cluster.node_name().ok_or(Error::NoName)?;
            let answer = runtime.block_on(commands::ask(cluster, &node, NodeCommand::Leave))?;
            writeln!(out, "{node}: {answer}")?;
        }
        "compact" => {
            let oldest = runtime.block_on(commands::compact(cluster))?;
            writeln!(
                out,
                "the log of the cluster {} begins at entry {oldest}",
                cluster.name
            )?;
        }
        _ => print(&runtime.block_on(commands::status(cluster))?, out)?,
    }
    Ok(())
}

fn print(status: &Status, out: &mut dyn Write) -> io::Result<()> {
    let Status {
        cluster,
        chain,
        leader,
        log,
        log_bytes,
        checkpoints,
        nodes,
    } = status;
    let Some((chain_id, genesis)) = chain else {
        return writeln!(out, "the cluster {cluster} has no chain yet");
    };
    writeln!(
        out,
        "cluster     {cluster}: chain id {chain_id}, genesis block {genesis}"
    )?;
    writeln!(out, "leader      {}", leader.as_deref().unwrap_or("none"))?;

    let (first, end) = log.unwrap_or_default();
    writeln!(
        out,
        "log         entries {first} to {end}, {log_bytes} bytes"
    )?;
    let checkpoints: Vec<_> = checkpoints.iter().map(u64::to_string).collect();
    writeln!(out, "checkpoints {}", checkpoints.join(", "))?;

    let width = nodes
        .iter()
        .map(|state| state.node.len())
        .max()
        .unwrap_or_default()
        .max(4);
    writeln!(
        out,
        "\n{:width$}  role      epoch  height    lag     block     version  url",
        "node"
    )?;
    for state in nodes {
        let role = format!("{:?}", state.role).to_lowercase();
        let lag = end.saturating_sub(state.height);
        writeln!(
            out,
            "{:width$}  {role:8}  {:<5}  {:<8}  {lag:<6}  {:<8}  {:7}  {}",
            state.node, state.epoch, state.height, state.block, state.version, state.url
        )?;
    }
    Ok(())
}
