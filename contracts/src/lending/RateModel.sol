// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {CreditScore} from "./CreditScore.sol";
import {AssetParameters} from "./PoolTypes.sol";
import {Ray} from "./Ray.sol";

/// @title RateModel
/// @notice Borrow rates from utilisation: a gentle slope up to the kink, a steep one above it.
library RateModel {
    uint256 internal constant YEAR = 31_536_000;

    uint256 private constant BPS_DENOMINATOR = 10_000;
    uint256 private constant RAY_PER_BPS = 1e23;

    /// @notice The utilisation of an asset.
    /// @param cash The available liquidity.
    /// @param debt The total debt.
    /// @return The utilisation in ray; 0 without debt.
    function utilisation(uint256 cash, uint256 debt) internal pure returns (uint256) {
        return debt == 0 ? 0 : Math.mulDiv(debt, Ray.ONE, cash + debt);
    }

    /// @notice The yearly rate, before any discount.
    /// @param parameters The asset's curve.
    /// @param utilised The utilisation in ray.
    /// @return The rate, as a ray.
    function annualRate(AssetParameters memory parameters, uint256 utilised) internal pure returns (uint256) {
        uint256 base = parameters.baseRateBps * RAY_PER_BPS;
        uint256 slope1 = parameters.slope1Bps * RAY_PER_BPS;
        uint256 kink = parameters.kinkBps * RAY_PER_BPS;
        if (utilised <= kink) return base + (slope1 * utilised) / kink;
        uint256 slope2 = parameters.slope2Bps * RAY_PER_BPS;
        return base + slope1 + (slope2 * (utilised - kink)) / (Ray.ONE - kink);
    }

    /// @notice The rate per second of a credit band.
    /// @param annual The yearly rate, as a ray.
    /// @param band The credit band.
    /// @return The rate, as a ray.
    function perSecond(uint256 annual, uint256 band) internal pure returns (uint256) {
        return (annual * CreditScore.rateMultiplierBps(band)) / (BPS_DENOMINATOR * YEAR);
    }
}
