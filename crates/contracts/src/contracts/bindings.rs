//! Calls, events, errors and structs of the network's contracts.
//!
//! They are generated from `contracts/artifacts/interfaces.sol`, which `contracts/build.mjs` writes
//! from the compiled contracts' ABIs. The JSON of the artifacts is not sufficient: it lacks the
//! variants of enumerations, gives each contract its own copy of a shared struct, and has the
//! vault's error and event `Paused` in one scope. For the last reason errors are in separate
//! interfaces, such as `VaultErrors`.

#![allow(missing_docs, clippy::too_many_arguments, reason = "generated")]

use alloy_sol_types::sol;

sol! {
    #![sol(extra_derives(Debug, PartialEq, Eq))]
    "../../contracts/artifacts/interfaces.sol"
}
