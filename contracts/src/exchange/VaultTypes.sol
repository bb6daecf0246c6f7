// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @notice The outcome of a swap's checks, in the order in which they are made: the first that fails is the one shown.
/// @dev A quote knows no minimum, so it never reports `InsufficientOutputAmount`.
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
    ImpactWindowExceeded
}

/// @notice Everything that is known about a swap before it happens.
struct SwapQuote {
    SwapStatus status;
    uint256 priceIn;
    uint256 priceOut;
    uint256 grossOut;
    uint256 fee;
    uint256 amountOut;
    uint256 reserveOut;
    uint256 impactBps;
    uint256 windowLevel;
}

/// @notice What the vault keeps for one token. Everything a swap reads and writes except the fees is in one slot.
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
/// @notice Why a vault refuses. They live apart from the vault because one of them shares its name with an event.
library VaultErrors {
    /// @notice Trading is stopped.
    error Paused();
    /// @notice Trading is not stopped.
    error NotPaused();
    /// @notice Both sides are the same token.
    error SameToken();
    /// @notice The vault does not trade one of the tokens.
    error UnsupportedToken();
    /// @notice The amount is zero.
    error ZeroAmount();
    /// @notice The amount does not fit 128 bits.
    error AmountTooLarge();
    /// @notice A price is missing or too old to trade on.
    error StalePrice();
    /// @notice After the fee nothing would be paid out.
    error ZeroOutput();
    /// @notice The swap would pay out less than the caller accepts.
    error InsufficientOutputAmount(uint256 amountOut, uint256 minAmountOut);
    /// @notice The vault holds less than the amount needed.
    error InsufficientLiquidity(uint256 needed, uint256 available);
    /// @notice The swap would take too large a share of the output reserve.
    error PriceImpactTooHigh(uint256 impactBps, uint256 maxImpactBps);
    /// @notice This swap and those of the last hour would together take too large a share of the output reserve.
    error ImpactWindowExceeded(uint256 impactBps, uint256 maxImpactBps);
    /// @notice The address has no code.
    error NotAContract(address token);
    /// @notice More than 18 decimals would not fit 256-bit arithmetic.
    error UnsupportedDecimals(uint8 decimals);
    /// @notice The token is traded already.
    error AlreadySupported(address token);
    /// @notice A share of the reserve above 100 %.
    error InvalidImpactWindow(uint256 bpsPerHour);
}
