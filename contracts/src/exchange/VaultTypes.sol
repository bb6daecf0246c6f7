// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @notice The outcome of a swap's checks, in their order: the first failing check is reported. `Halted` is checked right
/// after `StalePrice`.
/// @dev `Halted` is the last one so that the others keep the numbers that they have in vaults deployed before it. A quote
/// has no minimum output, so it never reports `InsufficientOutputAmount`.
enum SwapStatus {
    Ok,
    Paused,
    SameToken,
    UnsupportedToken,
    ZeroAmount,
    AmountTooLarge,
    StalePrice,
    ZeroOutput,
    InsufficientOutputAmount,
    InsufficientLiquidity,
    PriceImpactTooHigh,
    ImpactWindowExceeded,
    Halted
}

/// @notice The computed terms of a swap before it is executed.
struct SwapQuote {
    SwapStatus status;
    address halted;
    uint256 priceIn;
    uint256 priceOut;
    uint256 grossOut;
    uint256 fee;
    uint256 amountOut;
    uint256 reserveOut;
    uint256 impactBps;
    uint256 windowLevel;
}

/// @notice The vault's state of one token. Except for the fees, a swap reads and writes a single slot.
/// @dev `windowLevel` is the share of the reserve that recent swaps took, in parts per 10^12, as of `windowUpdatedAt`.
struct TokenState {
    uint160 reserve;
    uint8 decimals;
    bool supported;
    uint40 windowUpdatedAt;
    uint40 windowLevel;
    uint256 feesAccrued;
}

/// @title VaultErrors
/// @notice The vault's errors. They are separate from the vault because one of them shares its name with an event.
library VaultErrors {
    /// @notice Trading is paused.
    error Paused();
    /// @notice Trading is not paused.
    error NotPaused();
    /// @notice The input and output tokens are the same.
    error SameToken();
    /// @notice One of the tokens is not listed.
    error UnsupportedToken();
    /// @notice The amount is zero.
    error ZeroAmount();
    /// @notice The amount does not fit 128 bits.
    error AmountTooLarge();
    /// @notice A price is missing or stale.
    error StalePrice();
    /// @notice The token's price is behind its source, or the oracle's owner halted it.
    error TokenHalted(address token);
    /// @notice The output after the fee would be zero.
    error ZeroOutput();
    /// @notice The output would be below the caller's minimum.
    error InsufficientOutputAmount(uint256 amountOut, uint256 minAmountOut);
    /// @notice The vault holds less than the required amount.
    error InsufficientLiquidity(uint256 needed, uint256 available);
    /// @notice The swap would take too large a share of the output reserve.
    error PriceImpactTooHigh(uint256 impactBps, uint256 maxImpactBps);
    /// @notice This swap and those of the last hour would together take too large a share of the output reserve.
    error ImpactWindowExceeded(uint256 impactBps, uint256 maxImpactBps);
    /// @notice The address has no code.
    error NotAContract(address token);
    /// @notice More than 18 decimals would not fit 256-bit arithmetic.
    error UnsupportedDecimals(uint8 decimals);
    /// @notice The token is already listed.
    error AlreadySupported(address token);
    /// @notice The share of the reserve exceeds 100 %.
    error InvalidImpactWindow(uint256 bpsPerHour);
}
