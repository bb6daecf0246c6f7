//! The depth to which input may nest.

/// The maximum depth of what a client, a file or a peer nests, wherever functions that call
/// themselves read, write or drop it: brackets of a query, arrays and structs of a type. A level
/// takes up to a few kilobytes of the stack, of which a thread has 2 MiB.
///
/// The parsers of JSON and TOML have limits of their own, 127 and 80 levels. Calls nest 1,024 deep
/// in the EVM.
pub const MAX_NESTING: usize = 64;

/// The maximum number of levels of messages in a Cosmos transaction. An `Any` is one level and its
/// value is another, wherever it is.
///
/// Rendering a level takes more of the stack than others do, and several levels of JSON, of which
/// clients read 127. The SDK itself unpacks no more than ten `Any` within each other
/// (`MaxUnpackAnyRecursionDepth`), which take 20 levels.
pub const MAX_MESSAGE_LEVELS: usize = 32;

/// Returns the number of opening brackets in a type such as `(uint256,bytes[])[2]`, which nests no
/// deeper than that.
pub fn brackets(kind: &str) -> usize {
    kind.matches(['[', '(']).count()
}
