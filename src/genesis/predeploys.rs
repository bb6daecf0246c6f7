//! Contracts that tools and applications take for granted: their creation code is run at the
//! address that they have on every chain, so that values fixed by a constructor, such as domain
//! separators, are those of the chain.
//!
//! They have their published creation code, not their runtime code: Permit2 and the entry points
//! keep values of the chain id in it. They are deployed last, so that the account numbers before
//! them do not depend on them.

use alloy_primitives::{Address, address, hex};
use tetrad_chain::Step;

use super::CREATE2_DEPLOYER_CODE;

/// A contract with a published creation code.
struct Predeploy {
    name: &'static str,
    address: Address,
    /// The creation code in hexadecimal digits.
    creation: &'static str,
}

macro_rules! predeploy {
    ($name:literal, $address:literal) => {
        Predeploy {
            name: $name,
            address: address!($address),
            creation: include_str!(concat!("../../contracts/predeploys/", $name, ".hex")),
        }
    };
}

const PREDEPLOYS: [Predeploy; 5] = [
    predeploy!("Permit2", "0x000000000022D473030F116dDEE9F6B43aC78BA3"),
    predeploy!("EntryPoint06", "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789"),
    predeploy!("EntryPoint07", "0x0000000071727De22E5E9d8BAf0edAc6f37da032"),
    predeploy!("EntryPoint08", "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108"),
    predeploy!("CreateX", "0xba5Ed099633D3B313e4D5F7bdc1305d3c28ba5Ed"),
];

/// Safe's deployment proxy, which has the code of [the other one](super::CREATE2_DEPLOYER).
const SAFE_SINGLETON_FACTORY: Address = address!("0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7");
/// Instructions that return the code after them.
const RETURN_REST: [u8; 14] = hex!("604580600e600039806000f350fe");

/// Returns the steps that deploy the contracts.
pub(super) fn steps(deployer: Address) -> Vec<Step> {
    let factory = [&RETURN_REST[..], &CREATE2_DEPLOYER_CODE].concat();
    let mut steps = vec![deploy(
        deployer,
        "SafeSingletonFactory",
        SAFE_SINGLETON_FACTORY,
        factory,
    )];

    steps.extend(PREDEPLOYS.iter().map(|predeploy| {
        // The digits are embedded, and a test compares the code that results.
        let code = hex::decode(predeploy.creation.trim_end()).unwrap_or_default();
        deploy(deployer, predeploy.name, predeploy.address, code)
    }));
    steps
}

fn deploy(deployer: Address, name: &str, address: Address, code: Vec<u8>) -> Step {
    Step::Deploy {
        name: format!("deploy {name}"),
        address,
        deployer,
        code: code.into(),
    }
}
