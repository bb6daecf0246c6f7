// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AssetParameters, Credit, ReserveState} from "./PoolTypes.sol";

/// @title PoolEvents
/// @notice What happens in a lending pool. Each operation reports itself, and then the new state of everything it touched,
/// so that an indexer needs no arithmetic of its own.
interface PoolEvents {
    /// @notice A user supplied an asset.
    event Deposit(address indexed asset, address indexed user, uint256 amount);
    /// @notice A user took back what was supplied.
    event Withdraw(address indexed asset, address indexed user, uint256 amount);
    /// @notice A user borrowed.
    event Borrow(address indexed asset, address indexed user, uint256 amount);
    /// @notice A user paid back.
    event Repay(address indexed asset, address indexed user, uint256 amount);
    /// @notice A claim went from one user to another; `scaledAmount` is the same in index units.
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
    /// @notice A debt without collateral was given up; the treasury bore `fromTreasury` of it.
    event DebtWrittenOff(address indexed asset, address indexed user, uint256 amount, uint256 fromTreasury);

    /// @notice An asset's state after an operation, with interest up to now.
    event ReserveUpdated(address indexed asset, ReserveState state);
    /// @notice A user's part of an asset after an operation, in index units; the debt is in units of `band`.
    event PositionUpdated(
        address indexed user, address indexed asset, uint256 scaledSupply, uint256 scaledDebt, uint256 band
    );
    /// @notice A user's credit after an operation, and the score it makes together with what the user has and owes.
    event CreditUpdated(address indexed user, uint256 score, Credit credit);

    /// @notice An asset can be supplied and borrowed from now on.
    event AssetAdded(address indexed asset, address indexed pToken, uint256 id, uint256 decimals);
    /// @notice An asset's rates or ratios have changed.
    event ParametersChanged(address indexed asset, AssetParameters parameters);
    /// @notice An asset's limits have changed; 0 means none.
    event CapsChanged(address indexed asset, uint256 supplyCap, uint256 borrowCap);
    /// @notice Operations on an asset other than repayment stopped or go on.
    event PausedChanged(address indexed asset, bool paused);
    /// @notice Prices come from another oracle now.
    event OracleChanged(address indexed previousOracle, address indexed newOracle);
    /// @notice The owner collected the treasury's income.
    event TreasuryCollected(address indexed asset, address indexed receiver, uint256 amount);
}
