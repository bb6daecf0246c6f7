//! The state's tries against plain maps and `alloy_trie`.

mod forked;
mod prefetch;
mod trie;
mod world;
