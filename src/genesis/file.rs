//! Genesis files in geth's format, for chains other than the network's.
//!
//! Such a chain has no exchange and no lending, whose contracts are not on it. A file with an
//! unsupported field of `config` is refused. A fork takes the accounts alone.

use std::{collections::BTreeMap, io, path::Path};

use alloy_eips::{
    eip1559::INITIAL_BASE_FEE, eip6110::MAINNET_DEPOSIT_CONTRACT_ADDRESS, eip7002, eip7251,
};
use alloy_primitives::Address;
use tetrad_chain::{Genesis, GenesisAccount, MAX_GAS_LIMIT, MAX_START_NUMBER, MIN_GAS_LIMIT};
use tetrad_evm::{ChainParams, Fork, Forks, UnsupportedConfig};
use tetrad_stdx::calendar::LAST_SECOND;

/// The error of a genesis file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GenesisFileError {
    /// The file cannot be read.
    #[error("--genesis {0}: {1}")]
    Read(String, io::Error),
    /// The content cannot be used.
    #[error("--genesis {0}: {1}")]
    Content(String, GenesisTextError),
    /// The first block has another number than 0, and the chain is on disk.
    #[error("--genesis {0}: number: a chain on disk begins with block 0")]
    NumberedOnDisk(String),
}

/// The error of a genesis file's content.
#[derive(Debug, thiserror::Error)]
pub enum GenesisTextError {
    /// Not JSON in geth's format.
    #[error(transparent)]
    Format(#[from] serde_json::Error),
    /// Unsupported rules.
    #[error(transparent)]
    Config(#[from] UnsupportedConfig),
    /// A field with an invalid value, and the reason.
    #[error("{0}: {1}")]
    Field(&'static str, String),
}

/// The contracts without which no block can be built under Prague's rules.
const REQUEST_CONTRACTS: [(&str, Address); 2] = [
    ("EIP-7002", eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS),
    ("EIP-7251", eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS),
];

/// Reads a genesis file.
///
/// # Errors
/// See [`GenesisFileError`].
pub fn load(path: &Path) -> Result<(Genesis, ChainParams), GenesisFileError> {
    read(path, parse)
}

/// Reads the accounts of a genesis file. Whatever else it has describes another first block.
///
/// # Errors
/// See [`GenesisFileError`].
pub fn load_accounts(path: &Path) -> Result<Vec<GenesisAccount>, GenesisFileError> {
    read(path, |text| {
        let file: alloy_genesis::Genesis = serde_json::from_str(text)?;
        Ok(accounts(file.alloc).collect())
    })
}

fn read<T>(
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, GenesisTextError>,
) -> Result<T, GenesisFileError> {
    let name = || path.display().to_string();
    let text =
        std::fs::read_to_string(path).map_err(|error| GenesisFileError::Read(name(), error))?;
    parse(&text).map_err(|error| GenesisFileError::Content(name(), error))
}

/// Parses the content of a genesis file.
///
/// # Errors
/// See [`GenesisTextError`].
pub fn parse(text: &str) -> Result<(Genesis, ChainParams), GenesisTextError> {
    let file: alloy_genesis::Genesis = serde_json::from_str(text)?;
    let params = ChainParams {
        chain_id: file.config.chain_id,
        forks: Forks::from_genesis(&file.config, file.difficulty)?,
        deposit_contract: file
            .config
            .deposit_contract_address
            .unwrap_or(MAINNET_DEPOSIT_CONTRACT_ADDRESS),
        network_precompiles: false,
        standard: true,
        increasing_timestamps: true,
        limits: Default::default(),
        signers: Default::default(),
        cosmos: Default::default(),
    };

    let base_fee = file.base_fee_per_gas.unwrap_or(INITIAL_BASE_FEE.into());
    check(&file, &params, base_fee)?;

    let genesis = Genesis {
        timestamp: file.timestamp,
        gas_limit: file.gas_limit,
        beneficiary: file.coinbase,
        base_fee: Some(base_fee as u64),
        difficulty: file.difficulty,
        mix_hash: file.mix_hash,
        nonce: file.nonce.to_be_bytes().into(),
        extra_data: file.extra_data,
        excess_blob_gas: file.excess_blob_gas.unwrap_or(0),
        number: file.number.unwrap_or(0),
        accounts: accounts(file.alloc).map(without_zeros).collect(),
        steps: Vec::new(),
    };

    Ok((genesis, params))
}

fn accounts(
    alloc: BTreeMap<Address, alloy_genesis::GenesisAccount>,
) -> impl Iterator<Item = GenesisAccount> {
    alloc.into_iter().map(|(address, account)| GenesisAccount {
        address,
        balance: account.balance,
        nonce: account.nonce.unwrap_or(0),
        code: account.code.unwrap_or_default(),
        storage: account
            .storage
            .unwrap_or_default()
            .into_iter()
            .map(|(slot, value)| (slot.into(), value.into()))
            .collect(),
    })
}

/// A slot with the value zero is not in the trie.
fn without_zeros(mut account: GenesisAccount) -> GenesisAccount {
    account.storage.retain(|(_, value)| !value.is_zero());
    account
}

/// Rejects fields that would be ignored, and a first block that no block can follow.
fn check(
    file: &alloy_genesis::Genesis,
    params: &ChainParams,
    base_fee: u128,
) -> Result<(), GenesisTextError> {
    let zero = [
        ("parentHash", file.parent_hash.unwrap_or_default().is_zero()),
        ("blobGasUsed", file.blob_gas_used.unwrap_or(0) == 0),
        ("slotNumber", file.slot_number.is_none()),
    ];
    if let Some((field, _)) = zero.into_iter().find(|(_, holds)| !holds) {
        return invalid(field, "the first block has none".to_owned());
    }

    let number = file.number.unwrap_or(0);
    if number > MAX_START_NUMBER {
        return invalid(
            "number",
            format!("expected at most {MAX_START_NUMBER}, got {number}"),
        );
    }

    if !(MIN_GAS_LIMIT..=MAX_GAS_LIMIT).contains(&file.gas_limit) {
        return invalid(
            "gasLimit",
            format!(
                "expected {MIN_GAS_LIMIT} to {MAX_GAS_LIMIT}, got {}",
                file.gas_limit
            ),
        );
    }

    if file.timestamp > LAST_SECOND {
        return invalid(
            "timestamp",
            format!(
                "expected at most {LAST_SECOND}, the end of the year 9999, got {}",
                file.timestamp
            ),
        );
    }

    if base_fee > u64::MAX.into() {
        return invalid(
            "baseFeePerGas",
            format!("expected at most {}, got {base_fee}", u64::MAX),
        );
    }
    if file
        .excess_blob_gas
        .is_some_and(|excess| excess > i64::MAX as u64)
    {
        return invalid("excessBlobGas", format!("expected at most {}", i64::MAX));
    }

    // In the second block, the first that calls these contracts.
    let second = params.forks.at(number + 1, file.timestamp);
    if second.has(Fork::Prague) {
        check_request_contracts(file)?;
    }
    Ok(())
}

/// Requires the contracts whose requests are part of every block since Prague (EIP-7685).
fn check_request_contracts(file: &alloy_genesis::Genesis) -> Result<(), GenesisTextError> {
    for (name, address) in REQUEST_CONTRACTS {
        let code = file
            .alloc
            .get(&address)
            .and_then(|account| account.code.as_ref());
        if code.is_none_or(|code| code.is_empty()) {
            return invalid(
                "alloc",
                format!(
                    "{address} has no code: without the contract of {name} Prague has no blocks"
                ),
            );
        }
    }
    Ok(())
}

fn invalid(field: &'static str, what: String) -> Result<(), GenesisTextError> {
    Err(GenesisTextError::Field(field, what))
}
