//! The depth to which input may nest.

/// The maximum depth of what a client, a file or a peer nests, wherever functions that call themselves read, write or drop
/// it: brackets of a query, arrays and structs of a type. A level takes up to a few kilobytes of the stack, of which a
/// thread has 2 MiB.
///
/// The parsers of JSON and TOML have limits of their own, 127 and 80 levels. Calls nest 1,024 deep in the EVM.
pub const MAX_NESTING: usize = 64;

/// Returns the number of opening brackets in a type such as `(uint256,bytes[])[2]`, which nests no deeper than that.
pub fn brackets(kind: &str) -> usize {
    kind.matches(['[', '(']).count()
}
