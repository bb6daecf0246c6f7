//! The state's tries against plain maps and `alloy_trie`.

mod foresight;
mod forked;
mod trie;
mod world;
