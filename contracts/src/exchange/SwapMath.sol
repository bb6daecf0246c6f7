// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title SwapMath
/// @notice The arithmetic of a swap at the oracle's price. Every division favours the vault.
library SwapMath {
    /// @dev The fee of every swap, in basis points of the gross output.
    uint256 internal constant FEE_BPS = 30;
    uint256 internal constant BPS_DENOMINATOR = 10_000;

    /// @dev The unit of the impact window: 100 % of a reserve.
    uint256 internal constant WHOLE = 1e12;
    uint256 internal constant WINDOW_SECONDS = 1 hours;

    /// @notice The value of an input in the output token, and the vault's fee on it.
    /// @dev Does not overflow for an amount below 2^128, prices below 2^63 and at most 18 decimals.
    /// @param amountIn The input, in its smallest unit.
    /// @param priceIn The input token's price.
    /// @param decimalsIn The input token's decimals.
    /// @param priceOut The output token's price.
    /// @param decimalsOut The output token's decimals.
    /// @return grossOut The value before the fee, rounded down.
    /// @return fee The fee, rounded up.
    function price(uint256 amountIn, uint256 priceIn, uint8 decimalsIn, uint256 priceOut, uint8 decimalsOut)
        internal
        pure
        returns (uint256 grossOut, uint256 fee)
    {
        grossOut = (amountIn * priceIn * 10 ** decimalsOut) / (priceOut * 10 ** decimalsIn);
        fee = Math.ceilDiv(grossOut * FEE_BPS, BPS_DENOMINATOR);
    }

    /// @notice The share of a reserve that an output takes.
    /// @param grossOut The output before the fee.
    /// @param reserve The reserve of the output token.
    /// @param unit The value that stands for 100 %.
    /// @return The share, rounded up; the largest uint256 if the reserve is empty.
    function share(uint256 grossOut, uint256 reserve, uint256 unit) internal pure returns (uint256) {
        if (reserve == 0) return type(uint256).max;
        return Math.ceilDiv(Math.saturatingMul(grossOut, unit), reserve);
    }

    /// @notice The part of the impact window still in use after some time. It drains linearly, one full allowance per hour,
    /// so unlike a fixed window it never admits two allowances across a boundary.
    /// @param level The level in use, in parts of {WHOLE}.
    /// @param elapsed Seconds since that level was recorded.
    /// @param allowance The maximum level, in parts of {WHOLE}.
    /// @return The level in use now.
    function drain(uint256 level, uint256 elapsed, uint256 allowance) internal pure returns (uint256) {
        return Math.saturatingSub(level, (allowance * elapsed) / WINDOW_SECONDS);
    }
}
