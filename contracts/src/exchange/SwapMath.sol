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

    /// @notice What an input is worth in the output token, and the vault's fee on that.
    /// @dev With an amount below 2^128, prices below 2^63 and at most 18 decimals nothing here exceeds 256 bits.
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
    /// @param reserve The reserve it is taken from.
    /// @param unit What 100 % is.
    /// @return The share, rounded up; the largest number if the reserve is empty.
    function share(uint256 grossOut, uint256 reserve, uint256 unit) internal pure returns (uint256) {
        if (reserve == 0) return type(uint256).max;
        return Math.ceilDiv(Math.saturatingMul(grossOut, unit), reserve);
    }

    /// @notice How much of the impact window is still taken after some time. It drains evenly, a whole allowance an hour,
    /// so unlike a window with edges it never lets two allowances through side by side.
    /// @param level What was taken, in parts of {WHOLE}.
    /// @param elapsed Seconds since.
    /// @param allowance What may be taken, in parts of {WHOLE}.
    /// @return What is taken now.
    function drain(uint256 level, uint256 elapsed, uint256 allowance) internal pure returns (uint256) {
        return Math.saturatingSub(level, (allowance * elapsed) / WINDOW_SECONDS);
    }
}
