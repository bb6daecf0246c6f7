//! The owner's functions of the pool and their events, which no other account can use.

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolValue;
use tetrad_contracts::contracts::bindings::{
    AssetParameters, LendingPool, LendingPoolErrors, PriceOracle,
};

use super::{
    bench::{Receipt, refusal},
    model::ray,
    network::{ALICE, BOB, Network, ORACLE, OWNER, POOL, STRANGER, WHALE},
    tokens::{TOKENS, TokenInfo},
};

const ASSET: Address = Address::repeat_byte(0x71);
const P_TOKEN: Address = Address::repeat_byte(0x72);

fn deploy(network: &mut Network, asset: Address, p_token: Address, decimals: u8) {
    let arguments = (
        "New".to_owned(),
        "NEW".to_owned(),
        U256::from(decimals),
        OWNER,
    )
        .abi_encode_params();
    network.deploy(asset, OWNER, "Token", &arguments);
    network.deploy(p_token, OWNER, "PToken", &(POOL, asset).abi_encode_params());
}

fn add(asset: Address, p_token: Address, parameters: AssetParameters) -> LendingPool::addAssetCall {
    LendingPool::addAssetCall {
        asset,
        pToken: p_token,
        parameters,
        supplyCapTokens: 5,
        borrowCapTokens: 4,
    }
}

fn sound() -> AssetParameters {
    TokenInfo::of("UNI").parameters()
}

#[test]
fn an_asset_is_added_once_and_listed() {
    let mut network = Network::new();
    deploy(&mut network, ASSET, P_TOKEN, 18);
    let receipt = network
        .send(OWNER, POOL, add(ASSET, P_TOKEN, sound()))
        .unwrap();
    let event = LendingPool::AssetAdded {
        asset: ASSET,
        pToken: P_TOKEN,
        id: U256::from(12),
        decimals: U256::from(18),
    };
    assert_eq!(receipt.event::<LendingPool::AssetAdded>(), event);
    let event = LendingPool::ParametersChanged {
        asset: ASSET,
        parameters: sound(),
    };
    assert_eq!(receipt.event::<LendingPool::ParametersChanged>(), event);
    let event = LendingPool::CapsChanged {
        asset: ASSET,
        supplyCapTokens: U256::from(5),
        borrowCapTokens: U256::from(4),
    };
    assert_eq!(receipt.event::<LendingPool::CapsChanged>(), event);

    let state = receipt.event::<LendingPool::ReserveUpdated>().state;
    assert_eq!(state, network.reserve(ASSET));
    assert_eq!(
        (state.liquidityIndex, state.borrowIndexes),
        (ray(), [ray(); 5])
    );

    let mut expected: Vec<Address> = TOKENS.iter().map(|token| token.address).collect();
    expected.push(ASSET);
    assert_eq!(network.look(POOL, LendingPool::getAssetsCall {}), expected);
    let view = network.look(POOL, LendingPool::getReserveCall { asset: ASSET });
    assert_eq!(
        (view.asset, view.pToken, view.decimals, view.paused),
        (ASSET, P_TOKEN, 18, false)
    );
    assert_eq!(
        (view.supplyCapTokens, view.borrowCapTokens, view.parameters),
        (U256::from(5), U256::from(4), sound())
    );

    let refused = network
        .send(OWNER, POOL, add(ASSET, P_TOKEN, sound()))
        .unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::AlreadyAdded { asset: ASSET })
    );
}

#[test]
fn an_asset_and_its_receipt_token_must_belong_together() {
    let mut network = Network::new();
    deploy(&mut network, ASSET, P_TOKEN, 18);
    let of_usdc = TokenInfo::of("USDC").p_token();
    let no_contract = || refusal(LendingPoolErrors::NotAContract { account: STRANGER });
    let wrong = |p_token| refusal(LendingPoolErrors::WrongPToken { pToken: p_token });

    for (asset, p_token, error) in [
        (STRANGER, P_TOKEN, no_contract()),
        (ASSET, STRANGER, no_contract()),
        (ASSET, of_usdc, wrong(of_usdc)),
    ] {
        let refused = network
            .send(OWNER, POOL, add(asset, p_token, sound()))
            .unwrap_err();
        assert_eq!(refused, error);
    }

    // A receipt token of the right asset in another pool.
    let other = Address::repeat_byte(0x73);
    network.deploy(other, OWNER, "PToken", &(ORACLE, ASSET).abi_encode_params());
    let refused = network
        .send(OWNER, POOL, add(ASSET, other, sound()))
        .unwrap_err();
    assert_eq!(refused, wrong(other));
}

#[test]
fn more_than_18_decimals_are_refused() {
    let mut network = Network::new();
    deploy(&mut network, ASSET, P_TOKEN, 19);
    let refused = network
        .send(OWNER, POOL, add(ASSET, P_TOKEN, sound()))
        .unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::UnsupportedDecimals { decimals: 19 })
    );
}

/// The asset or receipt token with this number.
fn numbered(kind: u8, index: u8) -> Address {
    let mut bytes = [kind; 20];
    bytes[19] = index;
    Address::new(bytes)
}

#[test]
fn the_pool_holds_up_to_64_assets() {
    let mut network = Network::new();
    for index in 12..64 {
        let asset = numbered(0xa1, index);
        let p_token = numbered(0xa2, index);
        deploy(&mut network, asset, p_token, 6);
        network
            .send(OWNER, POOL, add(asset, p_token, sound()))
            .unwrap();
    }
    deploy(&mut network, ASSET, P_TOKEN, 6);
    let refused = network
        .send(OWNER, POOL, add(ASSET, P_TOKEN, sound()))
        .unwrap_err();
    assert_eq!(refused, refusal(LendingPoolErrors::TooManyAssets {}));
    // The last of them works like any other.
    let last = numbered(0xa1, 63);
    network.mint(last, ALICE, U256::from(5));
    network.approve(ALICE, last, POOL, U256::MAX);
    let deposit = LendingPool::depositCall {
        asset: last,
        amount: U256::from(5),
    };
    network.send(ALICE, POOL, deposit).unwrap();
    assert_eq!(network.balance_of(numbered(0xa2, 63), ALICE), U256::from(5));
}

#[test]
fn contradictory_parameters_are_refused() {
    let mut network = Network::new();
    let asset = TokenInfo::of("UNI").address;
    let changes: [fn(&mut AssetParameters); 6] = [
        |p| p.kinkBps = 0,
        |p| p.kinkBps = 10_001,
        |p| p.reserveFactorBps = 10_001,
        |p| p.minLtvBps = p.maxLtvBps + 1,
        |p| p.maxLtvBps = p.liquidationThresholdBps,
        // 68 % with a bonus of 47.06 % slightly exceed the collateral's value.
        |p| p.liquidationBonusBps = 4_706,
    ];
    for change in changes {
        let mut parameters = sound();
        change(&mut parameters);

        let call = LendingPool::setParametersCall { asset, parameters };
        let refused = network.send(OWNER, POOL, call).unwrap_err();
        assert_eq!(refused, refusal(LendingPoolErrors::InvalidParameters {}));
    }

    let extremes: [fn(&mut AssetParameters); 4] = [
        |p| p.kinkBps = 10_000,
        |p| p.reserveFactorBps = 10_000,
        |p| p.minLtvBps = p.maxLtvBps,
        |p| p.liquidationBonusBps = 4_705,
    ];
    for change in extremes {
        let mut parameters = sound();
        change(&mut parameters);

        let call = LendingPool::setParametersCall { asset, parameters };
        network.send(OWNER, POOL, call).unwrap();
    }

    // The same rules hold when an asset is added.
    deploy(&mut network, ASSET, P_TOKEN, 18);
    let parameters = AssetParameters {
        kinkBps: 0,
        ..sound()
    };
    let refused = network
        .send(OWNER, POOL, add(ASSET, P_TOKEN, parameters))
        .unwrap_err();
    assert_eq!(refused, refusal(LendingPoolErrors::InvalidParameters {}));
}

#[test]
fn new_rates_apply_from_now_on() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    network.deposit(ALICE, weth, weth.worth(1_000_000)).unwrap();
    network.borrow(ALICE, usdc, usdc.worth(500_000)).unwrap();
    network.wait(86_400);
    let asset = usdc.address;
    let before = network.reserve(asset);
    let parameters = AssetParameters {
        baseRateBps: 5_000,
        ..usdc.parameters()
    };
    let call = LendingPool::setParametersCall { asset, parameters };
    let receipt = network.send(OWNER, POOL, call).unwrap();

    assert_eq!(receipt.event::<LendingPool::ReserveUpdated>().state, before);
    let after = network.reserve(asset);
    assert_eq!(after, before);
}

#[test]
fn the_treasury_is_collected_as_far_as_there_is_cash() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    let asset = usdc.address;
    let to = STRANGER;
    let collect = |amount: U256| LendingPool::collectTreasuryCall { asset, amount, to };
    let refused = network.send(OWNER, POOL, collect(U256::MAX)).unwrap_err();
    assert_eq!(refused, refusal(LendingPoolErrors::ZeroAmount {}));

    network.deposit(ALICE, weth, weth.worth(2_000_000)).unwrap();
    network.borrow(ALICE, usdc, usdc.worth(1_000_000)).unwrap();
    network.wait(30 * 86_400);
    let state = network.reserve(asset);
    let refused = network.send(OWNER, POOL, collect(U256::MAX)).unwrap_err();
    let error = LendingPoolErrors::InsufficientLiquidity {
        needed: state.treasury,
        available: U256::ZERO,
    };
    assert_eq!(refused, refusal(error));

    network.repay(ALICE, usdc, U256::MAX).unwrap();
    let receipt = network.send(OWNER, POOL, collect(U256::from(7))).unwrap();
    let event = LendingPool::TreasuryCollected {
        asset,
        receiver: to,
        amount: U256::from(7),
    };
    assert_eq!(receipt.event::<LendingPool::TreasuryCollected>(), event);
    network.send(OWNER, POOL, collect(U256::MAX)).unwrap();
    assert_eq!(network.balance_of(asset, STRANGER), state.treasury);
    let after = network.reserve(asset);
    assert_eq!(after.treasury, U256::ZERO);
    assert_eq!(network.balance_of(asset, POOL), after.cash);
    network.withdraw(WHALE, usdc, U256::MAX).unwrap();
}

#[test]
fn prices_can_come_from_another_oracle() {
    let mut network = Network::funded();
    assert_eq!(network.look(POOL, LendingPool::oracleCall {}), ORACLE);
    let other = Address::repeat_byte(0x66);
    let refused = network
        .send(OWNER, POOL, LendingPool::setOracleCall { newOracle: other })
        .unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::NotAContract { account: other })
    );
    network.deploy(
        other,
        OWNER,
        "PriceOracle",
        &(OWNER, OWNER).abi_encode_params(),
    );
    let receipt = network
        .send(OWNER, POOL, LendingPool::setOracleCall { newOracle: other })
        .unwrap();
    let event = LendingPool::OracleChanged {
        previousOracle: ORACLE,
        newOracle: other,
    };
    assert_eq!(receipt.event::<LendingPool::OracleChanged>(), event);

    let usdc = TokenInfo::of("USDC");
    network.deposit(ALICE, usdc, usdc.worth(1_000)).unwrap();
    let refused = network.borrow(ALICE, usdc, U256::from(1)).unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::StalePrice {
            asset: usdc.address
        }),
        "it has no prices yet"
    );
    let call = PriceOracle::setPriceCall {
        token: usdc.address,
        price: U256::from(100_000_000),
    };
    network.send(OWNER, other, call).unwrap();
    network.borrow(ALICE, usdc, U256::from(1)).unwrap();
}

#[test]
fn only_the_owner_can_call_the_owners_functions() {
    let mut network = Network::new();
    let asset = TokenInfo::of("USDC").address;
    let usd = U256::from(1);

    let mut refused = Vec::from(change_asset(&mut network, BOB, asset));
    refused.extend([
        network.send(BOB, POOL, add(ASSET, P_TOKEN, sound())),
        network.send(BOB, POOL, LendingPool::setLeastLoanCall { usd }),
        network.send(BOB, POOL, LendingPool::setOracleCall { newOracle: ORACLE }),
        network.send(
            BOB,
            POOL,
            LendingPool::transferOwnershipCall { newOwner: BOB },
        ),
    ]);
    for result in refused {
        assert_eq!(
            result.unwrap_err(),
            refusal(LendingPoolErrors::OwnableUnauthorizedAccount { account: BOB })
        );
    }

    let asset = STRANGER;
    for result in change_asset(&mut network, OWNER, asset) {
        assert_eq!(
            result.unwrap_err(),
            refusal(LendingPoolErrors::UnsupportedAsset { asset })
        );
    }
}

/// The outcomes of every call that changes one asset.
fn change_asset(
    network: &mut Network,
    sender: Address,
    asset: Address,
) -> [Result<Receipt, Bytes>; 4] {
    let parameters = LendingPool::setParametersCall {
        asset,
        parameters: sound(),
    };
    let caps = LendingPool::setCapsCall {
        asset,
        supplyCapTokens: 1,
        borrowCapTokens: 1,
    };
    let paused = LendingPool::setPausedCall {
        asset,
        paused: true,
    };
    let treasury = LendingPool::collectTreasuryCall {
        asset,
        amount: U256::from(1),
        to: BOB,
    };

    [
        network.send(sender, POOL, parameters),
        network.send(sender, POOL, caps),
        network.send(sender, POOL, paused),
        network.send(sender, POOL, treasury),
    ]
}
