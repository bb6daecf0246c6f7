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
    /// @notice Supplies `amount` of `asset`. The caller must have approved the pool for it.
    /// @param asset The asset.
    /// @param amount The amount.
    function deposit(address asset, uint256 amount) external;

    /// @notice Withdraws supplied `asset`, including interest.
    /// @param asset The asset.
    /// @param amount The amount; a larger one than supplied means all of it.
    function withdraw(address asset, uint256 amount) external;

    /// @notice Borrows `amount` of `asset`.
    /// @param asset The asset.
    /// @param amount The amount.
    function borrow(address asset, uint256 amount) external;

    /// @notice Repays borrowed `asset`. The caller must have approved the pool for it.
    /// @param asset The asset.
    /// @param amount The amount; a larger one than the debt means all of it.
    function repay(address asset, uint256 amount) external;

    /// @notice Liquidates: repays a borrower's debt that is no longer covered, in exchange for collateral of a higher value.
    /// @param borrower The borrower.
    /// @param debtAsset The asset to repay. The caller must have approved the pool for it.
    /// @param collateralAsset The asset to receive.
    /// @param amount The maximum amount to repay.
    /// @param inKind Whether to receive the claim on the collateral instead of the collateral itself, for which the pool may
    /// lack the cash.
    function liquidate(address borrower, address debtAsset, address collateralAsset, uint256 amount, bool inKind)
        external;

    /// @notice Writes off the debts of a user without remaining collateral.
    /// @param user The user.
    function writeOff(address user) external;

    /// @notice Brings a user's credit history and rate band up to date.
    /// @param user The user.
    function refresh(address user) external;

    /// @notice Transfers a claim between users. Callable by the asset's receipt token only.
    /// @param asset The asset.
    /// @param from The sender.
    /// @param to The recipient.
    /// @param amount The amount, in units of the asset.
    function transferSupply(address asset, address from, address to, uint256 amount) external;

    /// @notice The price oracle.
    function oracle() external view returns (IPriceOracle);

    /// @notice All assets, in the order in which they were added.
    function getAssets() external view returns (address[] memory);

    /// @notice An asset's state, with interest up to now.
    function getReserve(address asset) external view returns (ReserveView memory);

    /// @notice A user's account, with the state that a transaction in this block would start from.
    /// @return account The account.
    /// @return score The credit score.
    function getAccount(address user) external view returns (Account memory account, uint256 score);

    /// @notice The total claims of an asset's suppliers.
    function totalSupplied(address asset) external view returns (uint256);

    /// @notice A user's claim on an asset.
    function suppliedBy(address asset, address user) external view returns (uint256);
}
