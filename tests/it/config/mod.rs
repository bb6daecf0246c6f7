//! Settings from file, environment and flags; the program's command line.

#[cfg(unix)]
mod anvil;
mod cluster;
mod cluster_files;
mod files;
mod fork;
mod layers;
mod page;
mod program;
