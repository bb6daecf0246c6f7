// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SwapMath} from "../src/exchange/SwapMath.sol";
import {CreditScore, ScoreParts} from "../src/lending/CreditScore.sol";
import {AssetParameters, Credit} from "../src/lending/PoolTypes.sol";
import {RateModel} from "../src/lending/RateModel.sol";
import {Ray} from "../src/lending/Ray.sol";

/// @title MathHarness
/// @notice The libraries' arithmetic, one function at a time.
contract MathHarness {
    function rpow(uint256 base, uint256 exponent) external pure returns (uint256) {
        return Ray.rpow(base, exponent);
    }

    function rates(AssetParameters memory parameters, uint256 cash, uint256 debt)
        external
        pure
        returns (uint256 utilisation, uint256 annual, uint256[5] memory perSecond)
    {
        utilisation = RateModel.utilisation(cash, debt);
        annual = RateModel.annualRate(parameters, utilisation);
        for (uint256 band = 0; band < 5; ++band) {
            perSecond[band] = RateModel.perSecond(annual, band);
        }
    }

    function explain(Credit memory credit, uint256 suppliedUsd, uint256 debtUsd, uint256 healthFactorBps, uint256 time)
        external
        pure
        returns (ScoreParts memory)
    {
        return CreditScore.explain(credit, suppliedUsd, debtUsd, healthFactorBps, time);
    }

    function bandOf(uint256 score) external pure returns (uint256 band, uint256 multiplierBps) {
        band = CreditScore.bandOf(score);
        multiplierBps = CreditScore.rateMultiplierBps(band);
    }

    function loanToValueBps(uint256 minBps, uint256 maxBps, uint256 score) external pure returns (uint256) {
        return CreditScore.loanToValueBps(minBps, maxBps, score);
    }

    function swap(uint256 amountIn, uint256 priceIn, uint8 decimalsIn, uint256 priceOut, uint8 decimalsOut)
        external
        pure
        returns (uint256 grossOut, uint256 fee)
    {
        return SwapMath.price(amountIn, priceIn, decimalsIn, priceOut, decimalsOut);
    }
}
