// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title PoolErrors
/// @notice The lending pool's errors. Dollars are times 10^8.
interface PoolErrors {
    /// @notice The amount is zero.
    error ZeroAmount();
    /// @notice Too much of the amount, or all of it, would be lost to rounding.
    error AmountTooSmall();
    /// @notice The asset is unknown to the pool.
    error UnsupportedAsset(address asset);
    /// @notice Operations on the asset are paused.
    error AssetPaused(address asset);
    /// @notice The price of an asset that the operation depends on is missing or stale.
    error StalePrice(address asset);
    /// @notice The price of an asset that the operation depends on is known to be behind its source.
    error TokenHalted(address asset);
    /// @notice The pool's liquidity is below the required amount.
    error InsufficientLiquidity(uint256 needed, uint256 available);
    /// @notice The debt would exceed the account's borrowing power.
    error BorrowingPowerExceeded(uint256 debtUsd, uint256 borrowingPowerUsd);
    /// @notice The supply would exceed the asset's cap.
    error SupplyCapExceeded(uint256 supplied, uint256 cap);
    /// @notice The debt would exceed the asset's cap.
    error BorrowCapExceeded(uint256 borrowed, uint256 cap);
    /// @notice The debt in the asset would be worth less than the least loan.
    error LoanTooSmall(uint256 debtUsd, uint256 leastLoanUsd);
    /// @notice The user has no supply of the asset.
    error NothingSupplied(address asset, address user);
    /// @notice The user has no debt in the asset.
    error NothingOwed(address asset, address user);
    /// @notice The user's supply of the asset is not collateral.
    error NotCollateral(address asset, address user);
    /// @notice The collateral covers the debt.
    error NotLiquidatable(uint256 healthFactorBps);
    /// @notice Only the asset's receipt token may do this.
    error NotPToken(address caller);
    /// @notice The address has no code.
    error NotAContract(address account);
    /// @notice The asset was already added.
    error AlreadyAdded(address asset);
    /// @notice The receipt token belongs to another pool or asset.
    error WrongPToken(address pToken);
    /// @notice More than 18 decimals would not fit 256-bit arithmetic.
    error UnsupportedDecimals(uint8 decimals);
    /// @notice The pool has the maximum number of assets.
    error TooManyAssets();
    /// @notice The parameters contradict each other.
    error InvalidParameters();
}
