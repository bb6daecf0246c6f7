// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Credit} from "./PoolTypes.sol";

/// @notice A credit score with its components, in points.
struct ScoreParts {
    uint256 score;
    uint256 depositPoints;
    uint256 paymentPoints;
    uint256 healthPoints;
    uint256 historyPoints;
    uint256 penaltyPoints;
    uint256 overduePoints;
}

/// @title CreditScore
/// @notice The credit score, and the loan-to-value ratio and rate band that follow from it. All results are rounded down.
library CreditScore {
    uint256 internal constant MIN_SCORE = 300;
    uint256 internal constant MAX_SCORE = 850;

    /// @dev In US dollars times 10^8.
    uint256 internal constant MIN_COLLATERAL_USD = 100e8;

    uint256 private constant DEPOSIT_POINTS = 150;
    uint256 private constant DEPOSIT_PERIOD = 180 days;
    uint256 private constant POINTS_PER_PAYMENT = 25;
    uint256 private constant MAX_PAYMENTS = 10;
    uint256 private constant HEALTH_POINTS = 50;
    uint256 private constant HISTORY_POINTS = 100;
    uint256 private constant HISTORY_PERIOD = 90 days;
    uint256 private constant PENALTY_PERIOD = 180 days;
    uint256 private constant MAX_OVERDUE_POINTS = 100;
    uint256 private constant BPS_DENOMINATOR = 10_000;

    /// @notice The score of a history together with the account's present state.
    /// @param credit The history, with its checkpoint at `time`.
    /// @param suppliedUsd The value supplied.
    /// @param debtUsd The value of the debt.
    /// @param healthFactorBps The health factor, in basis points.
    /// @param time The current time.
    /// @return parts The score and its parts.
    function explain(
        Credit memory credit,
        uint256 suppliedUsd,
        uint256 debtUsd,
        uint256 healthFactorBps,
        uint256 time
    ) internal pure returns (ScoreParts memory parts) {
        parts.depositPoints = _ramp(DEPOSIT_POINTS, credit.depositSeconds, DEPOSIT_PERIOD);
        parts.paymentPoints = POINTS_PER_PAYMENT * Math.min(credit.onTimePayments, MAX_PAYMENTS);
        parts.healthPoints = _healthPoints(suppliedUsd, debtUsd, healthFactorBps);
        parts.historyPoints = _ramp(HISTORY_POINTS, credit.healthySeconds, HISTORY_PERIOD);
        parts.penaltyPoints = remainingPenalty(credit, time);
        parts.overduePoints = _overduePoints(credit.dueAt, time);

        uint256 gained = MIN_SCORE + parts.depositPoints + parts.paymentPoints + parts.healthPoints
            + parts.historyPoints;
        uint256 kept = Math.saturatingSub(gained, parts.penaltyPoints + parts.overduePoints);
        parts.score = Math.min(Math.max(kept, MIN_SCORE), MAX_SCORE);
    }

    /// @notice The remaining penalty, which decays linearly over 180 days.
    /// @param credit The history.
    /// @param time The time, not before the last penalty.
    /// @return The remaining penalty points.
    function remainingPenalty(Credit memory credit, uint256 time) internal pure returns (uint256) {
        uint256 age = Math.min(time - credit.penaltyAt, PENALTY_PERIOD);
        return (credit.penalty * (PENALTY_PERIOD - age)) / PENALTY_PERIOD;
    }

    /// @notice The rate band of a score.
    /// @param score The score.
    /// @return The band, 0 being the most expensive.
    function bandOf(uint256 score) internal pure returns (uint8) {
        if (score < 580) return 0;
        if (score < 670) return 1;
        if (score < 740) return 2;
        if (score < 800) return 3;
        return 4;
    }

    /// @notice The share of the full rate that a band pays.
    /// @param band The band.
    /// @return Basis points.
    function rateMultiplierBps(uint256 band) internal pure returns (uint256) {
        if (band == 0) return 10_000;
        if (band == 1) return 9_500;
        if (band == 2) return 9_000;
        if (band == 3) return 8_250;
        return 7_500;
    }

    /// @notice The loan-to-value ratio of an asset.
    /// @param minLtvBps At the lowest score.
    /// @param maxLtvBps At the highest score.
    /// @param score The score.
    /// @return Basis points of the collateral's value.
    function loanToValueBps(uint256 minLtvBps, uint256 maxLtvBps, uint256 score) internal pure returns (uint256) {
        return minLtvBps + ((maxLtvBps - minLtvBps) * (score - MIN_SCORE)) / (MAX_SCORE - MIN_SCORE);
    }

    function _ramp(uint256 points, uint256 time, uint256 period) private pure returns (uint256) {
        return (points * Math.min(time, period)) / period;
    }

    function _healthPoints(uint256 suppliedUsd, uint256 debtUsd, uint256 healthFactorBps)
        private
        pure
        returns (uint256)
    {
        if (suppliedUsd < MIN_COLLATERAL_USD) return 0;
        if (debtUsd == 0) return HEALTH_POINTS;
        uint256 margin = Math.min(Math.saturatingSub(healthFactorBps, BPS_DENOMINATOR), BPS_DENOMINATOR);
        return (HEALTH_POINTS * margin) / BPS_DENOMINATOR;
    }

    function _overduePoints(uint256 dueAt, uint256 time) private pure returns (uint256) {
        if (dueAt == 0 || time <= dueAt) return 0;
        return Math.min((time - dueAt) / 1 days, MAX_OVERDUE_POINTS);
    }
}
