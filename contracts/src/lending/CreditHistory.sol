// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {CreditScore} from "./CreditScore.sol";
import {Credit} from "./PoolTypes.sol";

/// @title CreditHistory
/// @notice Updates of the credit history by a user's actions and by time.
library CreditHistory {
    uint256 internal constant TERM = 30 days;

    /// @dev A payment counts if it is at least this, in US dollars times 10^8, and a tenth of the debt, if the debt was held
    /// for a day, and if none counted within the last day. Without the day, borrowing and repaying in one transaction would
    /// earn points.
    uint256 private constant MIN_PAYMENT_USD = 50e8;
    uint256 private constant MIN_PAYMENT_SHARE = 10;
    uint256 private constant MIN_HELD = 1 days;
    uint256 private constant MIN_INTERVAL = 1 days;

    uint256 private constant MIN_DEBT_USD = 50e8;
    uint256 private constant HEALTHY_BPS = 15_000;

    uint256 private constant LATE_PENALTY = 40;
    uint256 private constant LIQUIDATION_PENALTY = 100;

    /// @dev The range of a score, and therefore the largest possible penalty.
    uint256 private constant MAX_PENALTY = CreditScore.MAX_SCORE - CreditScore.MIN_SCORE;

    /// @notice Adds the seconds since the last checkpoint, by the state that held since then, and notices a missed term.
    /// @param credit The history to update.
    /// @param time The current time.
    function checkpoint(Credit memory credit, uint256 time) internal pure {
        uint40 elapsed = uint40(time) - credit.checkpointAt;
        if (credit.depositing) credit.depositSeconds += elapsed;
        if (credit.healthy) credit.healthySeconds += elapsed;
        credit.checkpointAt = uint40(time);
        if (credit.dueAt != 0 && time > credit.dueAt && !credit.late) {
            credit.late = true;
            // As of the due date instead of now, so that the result does not depend on when the history is updated.
            _penalise(credit, LATE_PENALTY, credit.dueAt);
        }
    }

    /// @notice Starts a term with the first loan. Further loans do not extend it.
    /// @param credit The history to update.
    /// @param time The current time.
    function recordLoan(Credit memory credit, uint256 time) internal pure {
        if (credit.dueAt == 0) credit.dueAt = uint40(time + TERM);
        credit.lastBorrowAt = uint40(time);
    }

    /// @notice Records a payment. One that counts renews the term, and earns points if the term was not missed.
    /// @param credit The history to update.
    /// @param paidUsd The amount paid.
    /// @param debtUsd The debt before the payment.
    /// @param time The current time.
    function recordPayment(Credit memory credit, uint256 paidUsd, uint256 debtUsd, uint256 time) internal pure {
        if (paidUsd < MIN_PAYMENT_USD || paidUsd * MIN_PAYMENT_SHARE < debtUsd) return;
        if (time < credit.lastBorrowAt + MIN_HELD || time < credit.lastPaymentAt + MIN_INTERVAL) return;
        if (!credit.late && credit.onTimePayments < type(uint8).max) ++credit.onTimePayments;
        credit.lastPaymentAt = uint40(time);
        credit.dueAt = uint40(time + TERM);
        credit.late = false;
    }

    /// @notice Records a liquidation, at most one per day: liquidating in many small steps must not multiply the penalty.
    /// @param credit The history to update.
    /// @param time The current time.
    function recordLiquidation(Credit memory credit, uint256 time) internal pure {
        if (credit.lastLiquidationAt != 0 && time < credit.lastLiquidationAt + MIN_INTERVAL) return;
        credit.lastLiquidationAt = uint40(time);
        _penalise(credit, LIQUIDATION_PENALTY, time);
    }

    /// @notice Records the state that counts until the next checkpoint.
    /// @param credit The history to update.
    /// @param suppliedUsd The value supplied.
    /// @param debtUsd The value of the debt.
    /// @param healthFactorBps The health factor, in basis points.
    /// @param owes Whether there is any debt, however small.
    function settle(Credit memory credit, uint256 suppliedUsd, uint256 debtUsd, uint256 healthFactorBps, bool owes)
        internal
        pure
    {
        credit.depositing = suppliedUsd >= CreditScore.MIN_COLLATERAL_USD;
        credit.healthy = debtUsd >= MIN_DEBT_USD && healthFactorBps >= HEALTHY_BPS;
        if (!owes) (credit.dueAt, credit.late) = (0, false);
    }

    function _penalise(Credit memory credit, uint256 points, uint256 time) private pure {
        uint256 penalty = CreditScore.remainingPenalty(credit, time) + points;
        credit.penalty = uint16(Math.min(penalty, MAX_PENALTY));
        credit.penaltyAt = uint40(time);
    }
}
