// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {AssetParameters, BANDS, ReserveState} from "./PoolTypes.sol";
import {RateModel} from "./RateModel.sol";
import {Ray} from "./Ray.sol";

/// @title Interest
/// @notice Brings an asset's state up to now. None of the functions can revert: a pool whose interest cannot be settled
/// would be locked for all users.
library Interest {
    uint256 private constant BPS_DENOMINATOR = 10_000;

    /// @notice Accrues interest on the debts, and distributes it to the suppliers and the treasury.
    /// @param state The asset's state to update.
    /// @param parameters The asset's parameters.
    /// @param elapsed Seconds since interest was last charged.
    function accrue(ReserveState memory state, AssetParameters memory parameters, uint256 elapsed) internal pure {
        if (elapsed == 0) return;
        uint256 debt = totalDebt(state);
        uint256 annual = RateModel.annualRate(parameters, RateModel.utilisation(state.cash, debt));
        for (uint256 band = 0; band < BANDS; ++band) {
            uint256 factor = Ray.rpow(Ray.ONE + RateModel.perSecond(annual, band), elapsed);
            state.borrowIndexes[band] = Ray.grow(state.borrowIndexes[band], factor);
        }
        uint256 interest = totalDebt(state) - debt;
        uint256 cut = Math.ceilDiv(interest * parameters.reserveFactorBps, BPS_DENOMINATOR);
        if (state.scaledSupply != 0) {
            uint256 growth = Math.saturatingMul(interest - cut, Ray.ONE) / state.scaledSupply;
            state.liquidityIndex = Math.min(Math.saturatingAdd(state.liquidityIndex, growth), Ray.MAX_INDEX);
        }
        earn(state, cut);
    }

    /// @notice Credits income to the treasury. It covers the deficit of earlier losses first.
    /// @param state The asset's state to update.
    /// @param amount The income.
    function earn(ReserveState memory state, uint256 amount) internal pure {
        uint256 recovered = Math.min(amount, state.deficit);
        state.deficit -= recovered;
        state.treasury = Math.min(state.treasury + amount - recovered, type(uint128).max);
    }

    /// @notice The total debt.
    /// @param state The asset's state.
    /// @return debt The sum over the bands, each rounded up.
    function totalDebt(ReserveState memory state) internal pure returns (uint256 debt) {
        for (uint256 band = 0; band < BANDS; ++band) {
            debt += Ray.mulUp(state.scaledDebts[band], state.borrowIndexes[band]);
        }
    }

    /// @notice The total claims of suppliers.
    /// @param state The asset's state.
    /// @return The sum, rounded down.
    function totalSupplied(ReserveState memory state) internal pure returns (uint256) {
        return Ray.mulDown(state.scaledSupply, state.liquidityIndex);
    }

    /// @notice The supply rate per second: the interest that the bands pay, minus the treasury's share.
    /// @param state The asset's state.
    /// @param parameters The asset's parameters.
    /// @return The rate in ray, relative to the supply.
    function supplyRate(ReserveState memory state, AssetParameters memory parameters) internal pure returns (uint256) {
        uint256 supplied = totalSupplied(state);
        if (supplied == 0) return 0;
        uint256 annual = RateModel.annualRate(parameters, RateModel.utilisation(state.cash, totalDebt(state)));
        uint256 income = 0;
        for (uint256 band = 0; band < BANDS; ++band) {
            uint256 debt = Ray.mulUp(state.scaledDebts[band], state.borrowIndexes[band]);
            income += debt * RateModel.perSecond(annual, band);
        }
        return (income * (BPS_DENOMINATOR - parameters.reserveFactorBps)) / BPS_DENOMINATOR / supplied;
    }
}
