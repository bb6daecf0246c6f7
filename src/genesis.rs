//! The network's first block: contracts that tools expect on every chain, the exchange, lending,
//! and funded accounts. A bare chain has neither the exchange nor lending.

pub mod file;
mod predeploys;

use alloy_eips::{eip2935, eip4788, eip7002, eip7251};
use alloy_primitives::{Address, Bytes, U256, address, bytes};
use tetrad_chain::{Genesis, GenesisAccount, Step};
use tetrad_contracts::{
    artifacts,
    contracts::{
        bindings::{Multicall3, Token},
        call, deploy,
    },
};
use tetrad_exchange as exchange;
use tetrad_lending::lending;
use tetrad_network::network::Network;

/// The deterministic deployment proxy, which deploys with `CREATE2`, at the same address on every
/// chain.
const CREATE2_DEPLOYER: Address = address!("0x4e59b44847b379578588920cA78FbF26c0B4956C");
const CREATE2_DEPLOYER_CODE: Bytes = bytes!(
    "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3"
);
/// The address of Multicall3 on every chain.
const MULTICALL3: Address = address!("0xcA11bde05977b3631167028862bE2a173976CA11");

/// Whole coins of each of the node's own accounts.
const OWN_BALANCE: u64 = 1_000_000;

/// The accounts that the first block funds.
#[derive(Clone, Debug)]
pub struct FundedAccounts {
    /// The owner of the contracts.
    pub treasury: Address,
    /// The sender of price updates.
    pub updater: Address,
    /// The account that takes the first loans.
    pub borrower: Address,
    /// The development accounts, and the balance of each in wei.
    pub development: (Vec<Address>, U256),
}

/// The fields of the first block that configuration decides.
#[derive(Clone, Copy, Debug)]
pub struct GenesisOptions {
    /// The block's number.
    pub number: u64,
    /// The time in seconds.
    pub timestamp: u64,
    /// The block's gas limit.
    pub gas_limit: u64,
    /// Its base fee in wei per gas; EIP-1559's initial one by default.
    pub base_fee: Option<u64>,
    /// Whether the chain has the deployment proxy.
    pub create2_deployer: bool,
    /// Whether the lending pool has caps and a least loan.
    pub limited_lending: bool,
    /// Whether prices never age, because nothing updates them.
    pub frozen_prices: bool,
}

/// One coin, in wei.
pub const COIN: U256 = U256::from_limbs([1_000_000_000_000_000_000, 0, 0, 0]);

/// Returns the first block of `network`.
pub fn network_genesis(
    network: &Network,
    funded: &FundedAccounts,
    options: GenesisOptions,
) -> Genesis {
    let own = U256::from(OWN_BALANCE) * COIN;
    let mut accounts = development(funded);
    accounts.extend(
        [funded.treasury, funded.updater, funded.borrower]
            .map(|address| funded_account(address, own)),
    );
    accounts.extend(predeployed(options.create2_deployer));

    let mut steps = vec![multicall(funded.treasury)];

    let roles = exchange::genesis::ExchangeRoles {
        treasury: funded.treasury,
        updater: funded.updater,
    };
    steps.extend(exchange::genesis::steps(
        network,
        roles,
        options.frozen_prices,
    ));

    // After the exchange: the pool lends its tokens at the oracle's prices.
    let roles = lending::genesis::LendingRoles {
        treasury: funded.treasury,
        borrower: funded.borrower,
    };
    steps.extend(lending::genesis::steps(
        network,
        roles,
        options.limited_lending,
    ));

    steps.extend(faucet(network, funded));
    steps.extend(predeploys::steps(funded.treasury));

    Genesis {
        accounts,
        steps,
        base_fee: options.base_fee,
        number: options.number,
        ..Genesis::empty(options.timestamp, options.gas_limit)
    }
}

/// Returns the first block of a chain without the network's contracts. Multicall3 needs the
/// instructions of Shanghai.
pub fn bare_genesis(
    funded: &FundedAccounts,
    options: GenesisOptions,
    with_multicall: bool,
) -> Genesis {
    let mut accounts = development(funded);
    accounts.extend(predeployed(options.create2_deployer));

    Genesis {
        accounts,
        steps: with_multicall
            .then(|| multicall(funded.treasury))
            .into_iter()
            .collect(),
        base_fee: options.base_fee,
        number: options.number,
        ..Genesis::empty(options.timestamp, options.gas_limit)
    }
}

/// Returns the development accounts that a genesis file does not have, with their coins.
pub fn missing_accounts(genesis: &Genesis, funded: &FundedAccounts) -> Vec<GenesisAccount> {
    let mut missing = development(funded);
    missing.retain(|account| {
        let mut listed = genesis.accounts.iter();
        listed.all(|listed| listed.address != account.address)
    });
    missing
}

fn funded_account(address: Address, balance: U256) -> GenesisAccount {
    GenesisAccount {
        address,
        balance,
        ..GenesisAccount::default()
    }
}

/// Returns the development accounts with their coins.
pub fn development(funded: &FundedAccounts) -> Vec<GenesisAccount> {
    let (addresses, balance) = &funded.development;
    addresses
        .iter()
        .map(|address| funded_account(*address, *balance))
        .collect()
}

fn multicall(deployer: Address) -> Step {
    deploy(
        "Multicall3",
        MULTICALL3,
        deployer,
        artifacts::MULTICALL3,
        Multicall3::constructorCall {},
    )
}

/// Returns the contracts without storage or constructor: system contracts of the forks, and the
/// deployment proxy, if the chain has it.
fn predeployed(create2_deployer: bool) -> impl Iterator<Item = GenesisAccount> {
    [
        (
            eip4788::BEACON_ROOTS_ADDRESS,
            eip4788::BEACON_ROOTS_CODE.clone(),
        ),
        (
            eip2935::HISTORY_STORAGE_ADDRESS,
            eip2935::HISTORY_STORAGE_CODE.clone(),
        ),
        (
            eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS,
            eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_CODE.clone(),
        ),
        (
            eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS,
            eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_CODE.clone(),
        ),
        (CREATE2_DEPLOYER, CREATE2_DEPLOYER_CODE),
    ]
    .into_iter()
    .filter(move |(address, _)| create2_deployer || *address != CREATE2_DEPLOYER)
    .map(|(address, code)| GenesisAccount {
        address,
        // Contracts start with nonce 1 (EIP-161).
        nonce: 1,
        code,
        ..GenesisAccount::default()
    })
}

/// Returns the steps that mint tokens for the development accounts.
fn faucet(network: &Network, funded: &FundedAccounts) -> Vec<Step> {
    let mut steps = Vec::new();
    for token in &network.tokens {
        let amount =
            U256::from(token.development_balance) * U256::from(10).pow(U256::from(token.decimals));
        for to in &funded.development.0 {
            let mint = Token::mintCall { to: *to, amount };
            steps.push(call(
                &format!("faucet {}", token.symbol),
                funded.treasury,
                token.address,
                mint,
            ));
        }
    }
    steps
}
