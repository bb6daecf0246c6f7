//! The state's tries against plain maps and `alloy_trie`.

mod trie;
mod world;
