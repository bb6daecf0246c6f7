//! Genesis files in geth's format: another chain than the network's.

use std::{io, path::Path};

use alloy_eips::eip1559::INITIAL_BASE_FEE;
use alloy_primitives::U256;

use super::DEPOSIT_CONTRACT;
use crate::{
    chain::{Genesis, GenesisAccount},
    evm::{ChainParams, Forks},
};

/// A genesis file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GenesisFileError {
    /// It cannot be read.
    #[error("--genesis {0}: {1}")]
    Read(String, io::Error),
    /// It is not what geth takes.
    #[error("--genesis {0}: {1}")]
    Format(String, serde_json::Error),
}

/// Reads a file.
pub(super) fn load(path: &Path) -> Result<(Genesis, ChainParams), GenesisFileError> {
    let name = || path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| GenesisFileError::Read(name(), error))?;
    let file: alloy_genesis::Genesis =
        serde_json::from_str(&text).map_err(|error| GenesisFileError::Format(name(), error))?;
    let params = ChainParams {
        chain_id: file.config.chain_id,
        forks: Forks::from_genesis(&file.config),
        deposit_contract: file.config.deposit_contract_address.unwrap_or(DEPOSIT_CONTRACT),
        network_precompiles: false,
        signers: Default::default(),
    };
    let accounts = file.alloc.into_iter().map(|(address, account)| GenesisAccount {
        address,
        balance: account.balance,
        nonce: account.nonce.unwrap_or(0),
        code: account.code.unwrap_or_default(),
        storage: account
            .storage
            .unwrap_or_default()
            .into_iter()
            .map(|(slot, value)| (slot.into(), value.into()))
            .filter(|(_, value): &(U256, U256)| !value.is_zero())
            .collect(),
    });
    let genesis = Genesis {
        timestamp: file.timestamp,
        gas_limit: file.gas_limit,
        beneficiary: file.coinbase,
        base_fee: Some(file.base_fee_per_gas.map_or(INITIAL_BASE_FEE, |fee| fee as u64)),
        difficulty: file.difficulty,
        mix_hash: file.mix_hash,
        nonce: file.nonce.to_be_bytes().into(),
        extra_data: file.extra_data,
        excess_blob_gas: file.excess_blob_gas.unwrap_or(0),
        accounts: accounts.collect(),
        steps: Vec::new(),
    };
    Ok((genesis, params))
}
