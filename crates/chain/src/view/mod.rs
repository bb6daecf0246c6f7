//! The readers' side: heads with recent history, and the chain as of one block.

pub(super) mod blobs;
pub(super) mod block_view;
pub(super) mod deferred_states;
pub(super) mod head;
pub(super) mod held_blocks;
pub(super) mod index;
pub(super) mod log_windows;
pub(super) mod lookup;
mod old_blocks;
pub(super) mod persistent_list;
pub(super) mod updates;
