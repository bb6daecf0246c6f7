//! What all interfaces share of the web: listeners, limits, caching, errors and the end.

mod cache;
mod client_address;
mod client_slots;
mod cors;
mod exposition;
mod forwarded;
mod listener;
mod per_head;
mod rate_limit;
mod rest;
mod shutdown;
mod sliding_window;
mod traffic;

pub use cache::{Keep, Rendered};
pub use client_address::{ClientAddresses, ClientKey};
pub use client_slots::{ClientSlots, Slot};
pub use cors::cors;
pub use exposition::{CONTENT_TYPE as METRICS_TYPE, Exposition, Family, Labels};
pub use listener::{ConnectionSlot, ListenerLimits, listen, serve};
pub use per_head::PerHead;
pub use rate_limit::RateLimit;
pub use rest::{RestError, method_not_allowed, not_found};
pub use shutdown::{Shutdown, ShutdownHandle};
pub use sliding_window::{Admission, SlidingWindow};
pub use traffic::Traffic;
