// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AssetParameters, Credit, ReserveState} from "./PoolTypes.sol";

/// @title PoolEvents
/// @notice The lending pool's events. Each operation emits its own event, and then the new state of everything that it
/// changed, so that an indexer needs no arithmetic.
interface PoolEvents {
    /// @notice A user supplied an asset.
    event Deposit(address indexed asset, address indexed user, uint256 amount);
    /// @notice A user withdrew supply.
    event Withdraw(address indexed asset, address indexed user, uint256 amount);
    /// @notice A user borrowed.
    event Borrow(address indexed asset, address indexed user, uint256 amount);
    /// @notice A user repaid debt.
    event Repay(address indexed asset, address indexed user, uint256 amount);
    /// @notice A user decided whether the supply of an asset is collateral.
    event CollateralSet(address indexed asset, address indexed user, bool enabled);
    /// @notice A claim was transferred; `scaledAmount` is the amount in index units.
    event SupplyTransferred(
        address indexed asset, address indexed from, address indexed to, uint256 amount, uint256 scaledAmount
    );
    /// @notice A liquidator repaid `repaid` of a borrower's debt and took `seized` of the collateral, `fee` of which went to
    /// the treasury.
    event Liquidation(
        address indexed borrower,
        address indexed debtAsset,
        address indexed collateralAsset,
        address liquidator,
        uint256 repaid,
        uint256 seized,
        uint256 fee,
        bool inKind
    );
    /// @notice A debt without collateral was written off; the treasury covered `fromTreasury` of it.
    event DebtWrittenOff(address indexed asset, address indexed user, uint256 amount, uint256 fromTreasury);

    /// @notice An asset's state after an operation, with interest up to now.
    event ReserveUpdated(address indexed asset, ReserveState state);
    /// @notice A user's part of an asset after an operation, in index units; the debt is in units of `band`.
    event PositionUpdated(
        address indexed user, address indexed asset, uint256 scaledSupply, uint256 scaledDebt, uint256 band
    );
    /// @notice A user's credit after an operation, and the score it makes together with what the user has and owes.
    event CreditUpdated(address indexed user, uint256 score, Credit credit);

    /// @notice An asset was added.
    event AssetAdded(address indexed asset, address indexed pToken, uint256 id, uint256 decimals);
    /// @notice An asset's rates or ratios have changed.
    event ParametersChanged(address indexed asset, AssetParameters parameters);
    /// @notice An asset's caps have changed, in whole tokens; 0 means no limit.
    event CapsChanged(address indexed asset, uint256 supplyCapTokens, uint256 borrowCapTokens);
    /// @notice The least loan has changed, in US dollars times 10^8; 0 means no limit.
    event LeastLoanChanged(uint256 previousUsd, uint256 newUsd);
    /// @notice Operations on an asset other than repayment were paused or resumed.
    event PausedChanged(address indexed asset, bool paused);
    /// @notice The price oracle was replaced.
    event OracleChanged(address indexed previousOracle, address indexed newOracle);
    /// @notice The owner collected the treasury's income.
    event TreasuryCollected(address indexed asset, address indexed receiver, uint256 amount);
}
