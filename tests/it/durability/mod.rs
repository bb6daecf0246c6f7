//! What a data directory promises, held against processes that are killed, disks that fail and files that rot.

mod chain_seeds;
mod commands;
mod compaction;
mod crash;
mod disk;
mod failures;
mod history;
mod interrupted;
mod kept;
mod ledger;
mod log_seeds;
mod old_states;
mod refusals;
mod restart;
mod reverts;
mod secrets;
mod waiting;

/// How many seeds or kills to try: what continuous integration can afford, unless the environment says otherwise.
fn rounds(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().unwrap())
}
