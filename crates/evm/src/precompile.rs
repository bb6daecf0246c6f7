//! The network's own precompile: bech32 conversion at `0x…0400`, as in the Cosmos EVM modules.
//!
//! It exists on the mirrored network only, not on a chain from a genesis file.

use std::sync::OnceLock;

use alloy_primitives::{Address, Bytes, address};
use alloy_sol_types::{Revert, SolCall, SolError, SolInterface, sol};
use bech32::{Bech32, Hrp, primitives::decode::CheckedHrpstring};
use revm::{
    handler::EthPrecompiles,
    precompile::{
        Precompile, PrecompileHalt, PrecompileId, PrecompileOutput, PrecompileResult,
        PrecompileSpecId, Precompiles,
    },
    primitives::hardfork::SpecId,
};

/// The address of the bech32 precompile.
pub(crate) const BECH32_ADDRESS: Address = address!("0x0000000000000000000000000000000000000400");

/// The gas of a call, whatever its input, as on the live network.
const BECH32_GAS: u64 = 6_000;

sol!("../../contracts/src/interfaces/IBech32.sol");

/// The precompiles of a chain: Ethereum's at that fork and, with `network`, the network's own.
pub(super) fn precompiles(spec: SpecId, network: bool) -> EthPrecompiles {
    static EXTENDED: [OnceLock<Precompiles>; 16] = [const { OnceLock::new() }; 16];
    let mainnet = || Precompiles::new(PrecompileSpecId::from_spec_id(spec));
    let precompiles = if network {
        EXTENDED[spec as usize].get_or_init(|| {
            let mut extended = mainnet().clone();
            extended.extend([Precompile::new(
                PrecompileId::custom("BECH32"),
                BECH32_ADDRESS,
                run,
            )]);
            extended
        })
    } else {
        mainnet()
    };
    EthPrecompiles { precompiles, spec }
}

fn run(input: &[u8], gas_limit: u64, reservoir: u64) -> PrecompileResult {
    if gas_limit < BECH32_GAS {
        return Ok(PrecompileOutput::halt(PrecompileHalt::OutOfGas, reservoir));
    }
    Ok(match convert(input) {
        Ok(output) => PrecompileOutput::new(BECH32_GAS, output, reservoir),
        Err(reason) => PrecompileOutput::revert(BECH32_GAS, reason, reservoir),
    })
}

/// The ABI-encoded result, or the revert data: `Error(string)` with the reason.
fn convert(input: &[u8]) -> Result<Bytes, Bytes> {
    let revert = |reason: String| Bytes::from(Revert::from(reason).abi_encode());
    let call = IBech32::IBech32Calls::abi_decode(input)
        .map_err(|error| revert(format!("invalid call: {error}")))?;

    match call {
        IBech32::IBech32Calls::hexToBech32(call) => {
            let hrp = Hrp::parse(&call.prefix)
                .map_err(|error| revert(format!("invalid bech32 prefix: {error}")))?;
            let text = bech32::encode_lower::<Bech32>(hrp, call.addr.as_slice())
                .map_err(|error| revert(format!("invalid bech32 prefix: {error}")))?;
            Ok(IBech32::hexToBech32Call::abi_encode_returns(&text).into())
        }
        IBech32::IBech32Calls::bech32ToHex(call) => {
            let decoded = CheckedHrpstring::new::<Bech32>(&call.bech32Address)
                .map_err(|error| revert(format!("invalid bech32 address: {error}")))?;
            let bytes: Vec<u8> = decoded.byte_iter().collect();
            let address = Address::try_from(bytes.as_slice()).map_err(|_| {
                revert(format!(
                    "invalid bech32 address: {} bytes instead of 20",
                    bytes.len()
                ))
            })?;
            Ok(IBech32::bech32ToHexCall::abi_encode_returns(&address).into())
        }
    }
}
