//! A token that misbehaves on instruction.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolValue;

use super::{
    harnesses::RogueToken::{self, Manners},
    network::{Network, OWNER},
};

pub(crate) const ROGUE: Address = Address::repeat_byte(0x99);

pub(crate) fn deploy(network: &mut Network) {
    network.deploy(ROGUE, OWNER, "test/RogueToken", &U256::from(6).abi_encode());
}

pub(crate) fn behave(network: &mut Network, manners: Manners) {
    network
        .send(OWNER, ROGUE, RogueToken::behaveCall { manners_: manners })
        .unwrap();
}
