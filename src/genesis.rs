//! The network's first block: what tools take for granted, the exchange, lending, and funded accounts.

pub mod file;

use alloy_eips::{eip2935, eip4788, eip7002, eip7251};
use alloy_primitives::{Address, Bytes, U256, address, bytes};

use crate::{
    artifacts,
    chain::{Genesis, GenesisAccount, Step},
    contracts::{
        bindings::{Multicall3, Token},
        call, deploy,
    },
    exchange, lending,
    network::Network,
};

/// The deterministic deployment proxy: `CREATE2` for everybody, at the same address on every chain.
const CREATE2_DEPLOYER: Address = address!("0x4e59b44847b379578588920cA78FbF26c0B4956C");
const CREATE2_DEPLOYER_CODE: Bytes = bytes!(
    "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3"
);
/// Where every chain has Multicall3.
const MULTICALL3: Address = address!("0xcA11bde05977b3631167028862bE2a173976CA11");

/// Coins of the node's own accounts.
const OWN_BALANCE: u64 = 1_000_000;

/// Whom the first block provides for.
#[derive(Clone, Debug)]
pub struct Cast {
    /// Owns the contracts.
    pub treasury: Address,
    /// Pushes prices.
    pub updater: Address,
    /// Has the first loans.
    pub borrower: Address,
    /// Development accounts, and the balance of each in wei.
    pub development: (Vec<Address>, U256),
}

/// One coin in wei.
pub const COIN: U256 = U256::from_limbs([1_000_000_000_000_000_000, 0, 0, 0]);

/// The first block of `network`.
pub fn network_genesis(network: &Network, cast: &Cast, timestamp: u64, gas_limit: u64) -> Genesis {
    let account = |address, balance| GenesisAccount { address, balance, ..GenesisAccount::default() };
    let (development, balance) = &cast.development;
    let own = U256::from(OWN_BALANCE) * COIN;
    let mut accounts: Vec<_> = development.iter().map(|address| account(*address, *balance)).collect();
    accounts.extend([cast.treasury, cast.updater, cast.borrower].map(|address| account(address, own)));
    accounts.extend(predeployed());

    let mut steps =
        vec![deploy("Multicall3", MULTICALL3, cast.treasury, artifacts::MULTICALL3, Multicall3::constructorCall {})];
    let roles = exchange::genesis::Roles { treasury: cast.treasury, updater: cast.updater };
    steps.extend(exchange::genesis::steps(network, roles));
    let roles = lending::genesis::Roles { treasury: cast.treasury, borrower: cast.borrower };
    steps.extend(lending::genesis::steps(network, roles));
    steps.extend(faucet(network, cast));
    Genesis { accounts, steps, ..Genesis::empty(timestamp, gas_limit) }
}

/// Contracts that are code and nothing else: system contracts of the forks, and the deployment proxy.
fn predeployed() -> impl Iterator<Item = GenesisAccount> {
    [
        (eip4788::BEACON_ROOTS_ADDRESS, eip4788::BEACON_ROOTS_CODE.clone()),
        (eip2935::HISTORY_STORAGE_ADDRESS, eip2935::HISTORY_STORAGE_CODE.clone()),
        (eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS, eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_CODE.clone()),
        (eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS, eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_CODE.clone()),
        (CREATE2_DEPLOYER, CREATE2_DEPLOYER_CODE),
    ]
    .into_iter()
    .map(|(address, code)| GenesisAccount { address, nonce: 1, code, ..GenesisAccount::default() })
}

/// Tokens for the development accounts.
fn faucet(network: &Network, cast: &Cast) -> Vec<Step> {
    let mut steps = Vec::new();
    for token in &network.tokens {
        let amount = U256::from(token.development_balance) * U256::from(10).pow(U256::from(token.decimals));
        for to in &cast.development.0 {
            let mint = Token::mintCall { to: *to, amount };
            steps.push(call(&format!("faucet {}", token.symbol), cast.treasury, token.address, mint));
        }
    }
    steps
}
