//! Bindings of the contracts that only tests use, generated from their compiled ABIs. The network's
//! contracts are in `tetrad_contracts::contracts::bindings`.

use alloy_primitives::{Address, address};
use alloy_sol_types::{SolValue, sol};

use super::{bench::Bench, network::OWNER};

sol! {
    #![sol(extra_derives(Debug, PartialEq, Eq))]
    "contracts/artifacts/test/interfaces.sol"
}

/// Converts a struct to the type that other bindings generated for it.
pub(crate) fn same<T: SolValue + From<<T::SolType as alloy_sol_types::SolType>::RustType>>(
    value: &impl SolValue,
) -> T {
    T::abi_decode(&value.abi_encode()).expect("the same struct")
}

/// The address of the harness of the contracts' arithmetic.
pub(crate) const MATH: Address = address!("0x0000000000000000000000000000000000003a78");

/// An EVM with the harness of the contracts' arithmetic only.
pub(crate) fn math() -> Bench {
    let mut bench = Bench::new();
    bench.deploy(MATH, OWNER, "test/MathHarness", &[]);
    bench
}
