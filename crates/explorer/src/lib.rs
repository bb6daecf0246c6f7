//! TODO-DOC explorer

pub mod explorer;
pub mod index;
