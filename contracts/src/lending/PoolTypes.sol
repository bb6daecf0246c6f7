// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @dev The number of credit bands. Every account starts in band 0, which pays the highest rate.
uint256 constant BANDS = 5;

/// @notice The rates and ratios of an asset, all in basis points.
struct AssetParameters {
    // The borrow rate: base, slope up to the kink, slope above it, the kink's utilisation.
    uint16 baseRateBps;
    uint16 slope1Bps;
    uint16 slope2Bps;
    uint16 kinkBps;
    // The treasury's share of the interest.
    uint16 reserveFactorBps;
    // The loan-to-value ratio at the lowest and at the highest credit score.
    uint16 minLtvBps;
    uint16 maxLtvBps;
    // The liquidation threshold, and the liquidator's bonus.
    uint16 liquidationThresholdBps;
    uint16 liquidationBonusBps;
}

/// @notice One credit band of one asset, as stored.
struct Band {
    uint128 borrowIndex;
    uint128 scaledDebt;
}

/// @notice One asset, as stored.
struct Reserve {
    address pToken;
    uint40 updatedAt;
    uint8 id;
    uint8 decimals;
    bool paused;
    AssetParameters parameters;
    // In whole tokens; 0 for no limit.
    uint128 supplyCapTokens;
    uint128 borrowCapTokens;
    uint128 liquidityIndex;
    uint128 scaledSupply;
    uint128 cash;
    uint128 treasury;
    uint256 deficit;
    Band[BANDS] bands;
}

/// @notice The variable state of an asset, in memory, with interest up to now.
struct ReserveState {
    uint256 cash;
    uint256 treasury;
    uint256 deficit;
    uint256 liquidityIndex;
    uint256 scaledSupply;
    uint256[BANDS] borrowIndexes;
    uint256[BANDS] scaledDebts;
}

/// @notice A user's position in an asset, as stored. The debt is in units of the user's credit band.
struct Position {
    uint128 scaledSupply;
    uint128 scaledDebt;
}

/// @notice Whether the seconds since a checkpoint count. They do if the state was sufficient at the checkpoint (`Running`),
/// and not if the user left it insufficient (`Stopped`). If somebody else found it insufficient (`Doubted`), the next
/// checkpoint decides.
enum Clock {
    Stopped,
    Running,
    Doubted
}

/// @notice A user's credit history. Times are Unix seconds, 0 where something never happened.
struct Credit {
    uint40 checkpointAt;
    // Seconds with sufficient supply, and with a healthy debt.
    uint40 depositSeconds;
    uint40 healthySeconds;
    // Points lost to late terms and liquidations, as of `penaltyAt`.
    uint40 penaltyAt;
    // The end of the current term; 0 without debt.
    uint40 dueAt;
    uint16 penalty;
    uint8 onTimePayments;
    uint8 band;
    // The clocks of the deposit's and of the debt's seconds, and whether the current term is already recorded as late.
    Clock depositClock;
    Clock healthClock;
    bool late;
    uint40 lastBorrowAt;
    uint40 lastPaymentAt;
    uint40 lastLiquidationAt;
    // One bit per asset id: in which the user has debt, whose supply is collateral, and whose supply the user keeps from
    // becoming collateral.
    uint64 borrowed;
    uint64 collateral;
    uint64 refused;
    // The end of the last term in which a payment earned points. The next one can earn points after that.
    uint40 paidUntil;
}

/// @notice One asset in a user's account: the asset's state, its price, and the user's position.
struct Holding {
    address asset;
    uint256 id;
    uint256 unit;
    uint256 price;
    bool fresh;
    bool halted;
    bool collateral;
    bool changed;
    uint256 scaledSupply;
    uint256 scaledDebt;
    AssetParameters parameters;
    ReserveState state;
}

/// @notice A user's account, in memory, with the state that a transaction in this block starts from: the assets that are
/// collateral or debt, and those that the operation needs.
struct Account {
    address user;
    Credit credit;
    Holding[] holdings;
}

/// @notice The value of an account, in US dollars times 10^8: collateral rounded down, debts rounded up. Supply that is not
/// collateral counts for nothing.
struct Valuation {
    uint256 suppliedUsd;
    uint256 debtUsd;
    // The maximum debt that the collateral covers before the account can be liquidated.
    uint256 coverUsd;
}
