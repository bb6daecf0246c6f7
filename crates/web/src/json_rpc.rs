//! The error codes that the JSON-RPC specification defines (section 5.1). Each interface adds its
//! own.

/// Invalid JSON.
pub const PARSE_ERROR: i32 = -32700;
/// A JSON value that is not a request.
pub const INVALID_REQUEST: i32 = -32600;
/// No such method.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// Invalid parameters.
pub const INVALID_PARAMS: i32 = -32602;
/// An internal error.
pub const INTERNAL_ERROR: i32 = -32603;
