// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title PoolErrors
/// @notice Why a lending pool refuses. Dollars are times 10^8.
interface PoolErrors {
    /// @notice The amount is zero.
    error ZeroAmount();
    /// @notice Too much of the amount, or all of it, would be lost to rounding.
    error AmountTooSmall();
    /// @notice The pool does not know the asset.
    error UnsupportedAsset(address asset);
    /// @notice Operations on the asset are stopped.
    error AssetPaused(address asset);
    /// @notice The price of an asset in the account is missing or too old to act on.
    error StalePrice(address asset);
    /// @notice The pool has less of the asset in cash than needed.
    error InsufficientLiquidity(uint256 needed, uint256 available);
    /// @notice The account would owe more than it may.
    error BorrowingPowerExceeded(uint256 debtUsd, uint256 borrowingPowerUsd);
    /// @notice More would be supplied than the asset's limit.
    error SupplyCapExceeded(uint256 supplied, uint256 cap);
    /// @notice More would be lent than the asset's limit.
    error BorrowCapExceeded(uint256 borrowed, uint256 cap);
    /// @notice The user supplied none of the asset.
    error NothingSupplied(address asset, address user);
    /// @notice The user owes none of the asset.
    error NothingOwed(address asset, address user);
    /// @notice The collateral covers the debt.
    error NotLiquidatable(uint256 healthFactorBps);
    /// @notice Only the asset's receipt token may do this.
    error NotPToken(address caller);
    /// @notice The address has no code.
    error NotAContract(address account);
    /// @notice The asset is known already.
    error AlreadyAdded(address asset);
    /// @notice The receipt token belongs to another pool or asset.
    error WrongPToken(address pToken);
    /// @notice More than 18 decimals would not fit 256-bit arithmetic.
    error UnsupportedDecimals(uint8 decimals);
    /// @notice There is no room for another asset.
    error TooManyAssets();
    /// @notice The parameters contradict each other.
    error InvalidParameters();
}
