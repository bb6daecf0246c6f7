//! The one integration binary: every test runs against the real thing.

mod contracts;
