// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title Ray
/// @notice Fixed-point numbers with 27 decimals.
library Ray {
    uint256 internal constant ONE = 1e27;

    /// @dev Where indexes stop growing, some 3 * 10^11 times the principal. Clocks of test networks jump by decades; an
    /// index that overflowed would make every later call revert and lock the pool, one that stands still locks nothing.
    uint256 internal constant MAX_INDEX = type(uint128).max;

    /// @notice `x * y / ONE`, rounded down.
    function mulDown(uint256 x, uint256 y) internal pure returns (uint256) {
        return (x * y) / ONE;
    }

    /// @notice `x * y / ONE`, rounded up.
    function mulUp(uint256 x, uint256 y) internal pure returns (uint256) {
        return Math.ceilDiv(x * y, ONE);
    }

    /// @notice `x * ONE / y`, rounded down.
    function divDown(uint256 x, uint256 y) internal pure returns (uint256) {
        return (x * ONE) / y;
    }

    /// @notice `x * ONE / y`, rounded up.
    function divUp(uint256 x, uint256 y) internal pure returns (uint256) {
        return Math.ceilDiv(x * ONE, y);
    }

    /// @notice `base ** exponent` by repeated squaring, rounded down at every step and capped at {MAX_INDEX}. Exact where
    /// a truncated series would drift, so it hardly matters how often interest is settled.
    /// @param base A growth factor, at least {ONE} and at most {MAX_INDEX}.
    /// @param exponent How often it applies.
    /// @return result The compounded factor.
    function rpow(uint256 base, uint256 exponent) internal pure returns (uint256 result) {
        result = exponent % 2 == 0 ? ONE : base;
        for (exponent /= 2; exponent != 0; exponent /= 2) {
            base = grow(base, base);
            if (exponent % 2 == 1) result = grow(result, base);
        }
    }

    /// @notice `x * y / ONE`, rounded down and capped at {MAX_INDEX}, for factors that are themselves capped.
    function grow(uint256 x, uint256 y) internal pure returns (uint256) {
        // Two numbers below 2^128 cannot overflow.
        unchecked {
            return Math.min((x * y) / ONE, MAX_INDEX);
        }
    }
}
