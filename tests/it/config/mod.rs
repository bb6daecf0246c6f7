//! Settings from file, environment and flags; the program's command line.

mod files;
mod layers;
mod program;
