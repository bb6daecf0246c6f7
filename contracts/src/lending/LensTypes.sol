// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AssetParameters, BANDS} from "./PoolTypes.sol";

/// @notice An asset, for display. A symbol that cannot be read, or of more than 64 bytes, is empty. Rates are rays; `borrowRates` and `supplyRate` are per second, the former
/// by credit band; `price` is in US dollars times 10^8; the caps are in units of the asset, 0 for none.
struct PoolView {
    address asset;
    address pToken;
    string symbol;
    uint8 decimals;
    bool paused;
    uint256 totalSupplied;
    uint256 totalDebt;
    uint256 cash;
    uint256 treasury;
    uint256 deficit;
    uint256 utilisation;
    uint256 annualRate;
    uint256[BANDS] borrowRates;
    uint256 supplyRate;
    uint256 liquidityIndex;
    uint256 supplyCap;
    uint256 borrowCap;
    uint256 price;
    bool priceFresh;
    AssetParameters parameters;
}

/// @notice The limits of an asset: the caps in whole tokens, the least value of a debt after borrowing in US dollars times
/// 10^8, each 0 for no limit, and whether the price is halted, which prevents loans.
struct LimitsView {
    uint256 supplyCapTokens;
    uint256 borrowCapTokens;
    uint256 leastLoanUsd;
    bool priceHalted;
}

/// @notice Where an asset's price would have to go for the account to be liquidated, all other prices as they are.
enum LiquidationSide {
    None,
    Below,
    Above
}

/// @notice A user's position in an asset. Dollars are times 10^8, with supply rounded down and debt rounded up.
struct PositionView {
    address asset;
    string symbol;
    uint8 decimals;
    uint256 supplied;
    uint256 debt;
    uint256 price;
    bool priceFresh;
    uint256 suppliedUsd;
    uint256 debtUsd;
    uint256 supplyRate;
    uint256 borrowRate;
    uint256 loanToValueBps;
    uint256 liquidationThresholdBps;
    uint256 liquidationPrice;
    LiquidationSide liquidationSide;
}

/// @notice A user's account. Without debt the health factor is the largest uint256, and `dueAt` 0.
struct AccountView {
    uint256 score;
    uint256 band;
    uint256 suppliedUsd;
    uint256 borrowingPowerUsd;
    uint256 debtUsd;
    uint256 availableUsd;
    uint256 healthFactorBps;
    uint256 dueAt;
    PositionView[] positions;
}

/// @notice A credit score with its components: the points, then the history they are based on. Times are Unix seconds, 0
/// for never.
struct ScoreView {
    uint256 score;
    uint256 band;
    uint256 depositPoints;
    uint256 paymentPoints;
    uint256 healthPoints;
    uint256 historyPoints;
    uint256 penaltyPoints;
    uint256 overduePoints;
    uint256 depositSeconds;
    uint256 onTimePayments;
    uint256 healthFactorBps;
    uint256 healthySeconds;
    uint256 penalty;
    uint256 penaltyAt;
    uint256 dueAt;
    bool late;
    uint256 lastBorrowAt;
    uint256 lastPaymentAt;
}
