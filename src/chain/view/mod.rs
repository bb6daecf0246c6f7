//! What readers see: heads with the recent past, and the chain as of one block.

pub(super) mod blobs;
pub(super) mod block_view;
pub(super) mod built_states;
pub(super) mod head;
pub(super) mod index;
pub(super) mod log_windows;
mod lookup;
pub(super) mod news;
mod old_blocks;
pub(super) mod spine;
pub(super) mod trail;
