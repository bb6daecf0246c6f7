//! tetrad.
