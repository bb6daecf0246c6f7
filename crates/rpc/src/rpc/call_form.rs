//! The place of the call in the parameters of a method.

/// The form in which the parameters of a method have the call whose failure is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallForm {
    /// A transaction object, a block, and overrides.
    Call,
    /// A transaction object.
    Transaction,
    /// An encoded transaction.
    Raw,
}
