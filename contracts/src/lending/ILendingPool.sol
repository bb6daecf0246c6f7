// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IPriceOracle} from "../interfaces/IPriceOracle.sol";
import {PoolErrors} from "./PoolErrors.sol";
import {PoolEvents} from "./PoolEvents.sol";
import {Account, AssetParameters, ReserveState} from "./PoolTypes.sol";

/// @notice An asset as the pool sees it now, with interest up to now.
struct ReserveView {
    address asset;
    address pToken;
    uint8 decimals;
    bool paused;
    uint256 supplyCap;
    uint256 borrowCap;
    AssetParameters parameters;
    ReserveState state;
}

/// @title ILendingPool
/// @notice Supply assets to earn interest, and borrow against them as far as a credit score allows.
interface ILendingPool is PoolErrors, PoolEvents {
    /// @notice Supplies `amount` of `asset`, which the caller has approved the pool to take.
    /// @param asset The asset.
    /// @param amount How much.
    function deposit(address asset, uint256 amount) external;

    /// @notice Takes back supplied `asset` with its interest.
    /// @param asset The asset.
    /// @param amount How much; more than is there means all of it.
    function withdraw(address asset, uint256 amount) external;

    /// @notice Borrows `amount` of `asset`.
    /// @param asset The asset.
    /// @param amount How much.
    function borrow(address asset, uint256 amount) external;

    /// @notice Pays back borrowed `asset`, which the caller has approved the pool to take.
    /// @param asset The asset.
    /// @param amount How much; more than is owed means all of it.
    function repay(address asset, uint256 amount) external;

    /// @notice Repays a borrower's debt whose collateral no longer covers it, for collateral worth more.
    /// @param borrower The borrower.
    /// @param debtAsset The asset to repay, which the caller has approved the pool to take.
    /// @param collateralAsset The asset to receive.
    /// @param amount How much to repay at most.
    /// @param inKind Whether to receive the claim on the collateral rather than the collateral, for which the pool may be
    /// short of cash.
    function liquidate(address borrower, address debtAsset, address collateralAsset, uint256 amount, bool inKind)
        external;

    /// @notice Gives up the debts of a user who has no collateral left.
    /// @param user The user.
    function writeOff(address user) external;

    /// @notice Brings a user's credit history and rate band up to date.
    /// @param user The user.
    function refresh(address user) external;

    /// @notice Moves a claim from one user to another. Only for the asset's receipt token.
    /// @param asset The asset.
    /// @param from The user who gives.
    /// @param to The user who gets.
    /// @param amount How much, in units of the asset.
    function transferSupply(address asset, address from, address to, uint256 amount) external;

    /// @notice Where prices come from.
    function oracle() external view returns (IPriceOracle);

    /// @notice Every asset, in the order in which they were added.
    function getAssets() external view returns (address[] memory);

    /// @notice One asset, with interest up to now.
    function getReserve(address asset) external view returns (ReserveView memory);

    /// @notice A user's account, exactly as a transaction in this block would start with it.
    /// @return account The account.
    /// @return score The credit score.
    function getAccount(address user) external view returns (Account memory account, uint256 score);

    /// @notice What all suppliers of an asset may claim.
    function totalSupplied(address asset) external view returns (uint256);

    /// @notice What a user may claim of an asset.
    function suppliedBy(address asset, address user) external view returns (uint256);
}
