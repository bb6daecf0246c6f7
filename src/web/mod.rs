//! What all interfaces share of the web: listeners, limits, errors and the end.

mod listener;
mod shutdown;

pub use listener::{ListenerLimits, serve};
pub use shutdown::{Shutdown, ShutdownHandle};
