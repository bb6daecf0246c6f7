//! Settings from file, environment and flags; the program's command line.

mod files;
mod fork;
mod layers;
mod program;
