//! Bindings of the contracts that only tests have, generated from their compiled ABIs. What the
//! network's contracts have as well is in `tetrad_contracts::contracts::bindings`.

use alloy_sol_types::{SolValue, sol};

sol! {
    #![sol(extra_derives(Debug, PartialEq, Eq))]
    "contracts/artifacts/test/interfaces.sol"
}

/// A struct as the type that other bindings generated for it.
pub(crate) fn same<T: SolValue + From<<T::SolType as alloy_sol_types::SolType>::RustType>>(
    value: &impl SolValue,
) -> T {
    T::abi_decode(&value.abi_encode()).expect("the same struct")
}
