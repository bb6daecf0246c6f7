//! Addresses of contracts, derived from their deployers.

use alloy_primitives::{Address, B256};

/// Returns the address of the contract that `deployer` creates at `nonce` (`CREATE`):
/// the last 20 bytes of `keccak256(rlp([deployer, nonce]))` (Yellow Paper, section 7).
///
/// ```
/// use alloy_primitives::address;
/// use tetrad_network::account::create_address;
///
/// let deployer = address!("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
/// assert_eq!(create_address(&deployer, 0), address!("5FbDB2315678afecb367f032d93F642f64180aa3"));
/// ```
#[must_use]
pub fn create_address(deployer: &Address, nonce: u64) -> Address {
    deployer.create(nonce)
}

/// Returns the address of the contract that `deployer` creates with a salt (`CREATE2`, EIP-1014):
/// the last 20 bytes of `keccak256(0xff ‖ deployer ‖ salt ‖ keccak256(init code))`.
#[must_use]
pub fn create2_address(deployer: &Address, salt: &B256, init_code_hash: &B256) -> Address {
    deployer.create2(salt, init_code_hash)
}

/// Returns [`create2_address`] for the init code itself.
///
/// ```
/// use alloy_primitives::{Address, B256, address};
/// use tetrad_network::account::create2_address_from_code;
///
/// // The first example of EIP-1014.
/// let created = create2_address_from_code(&Address::ZERO, &B256::ZERO, &[0]);
/// assert_eq!(created, address!("4D1A2e2bB4F88F0250f26Ffff098B0b30B26BF38"));
/// ```
#[must_use]
pub fn create2_address_from_code(deployer: &Address, salt: &B256, init_code: &[u8]) -> Address {
    deployer.create2_from_code(salt, init_code)
}
