// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {CreditScore} from "./CreditScore.sol";
import {Credit} from "./PoolTypes.sol";

/// @title CreditHistory
/// @notice How a user's actions and the passing of time enter the credit history.
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

    /// @dev A score spans 550 points, so nobody can lose more at once.
    uint256 private constant MAX_PENALTY = CreditScore.MAX_SCORE - CreditScore.MIN_SCORE;

    /// @notice Adds the seconds since the last checkpoint, by the state that held since then, and notices a missed term.
    /// @param credit The history, which is changed.
    /// @param time Now.
    function checkpoint(Credit memory credit, uint256 time) internal pure {
        uint40 elapsed = uint40(time) - credit.checkpointAt;
        if (credit.depositing) credit.depositSeconds += elapsed;
        if (credit.healthy) credit.healthySeconds += elapsed;
        credit.checkpointAt = uint40(time);
        if (credit.dueAt != 0 && time > credit.dueAt && !credit.late) {
            credit.late = true;
            // As of the due date, not of now: it must not matter when somebody looks.
            _penalise(credit, LATE_PENALTY, credit.dueAt);
        }
    }

    /// @notice Starts a term with the first loan. Further loans do not extend it.
    /// @param credit The history, which is changed.
    /// @param time Now.
    function recordLoan(Credit memory credit, uint256 time) internal pure {
        if (credit.dueAt == 0) credit.dueAt = uint40(time + TERM);
        credit.lastBorrowAt = uint40(time);
    }

    /// @notice Enters a payment. One that counts renews the term, and earns points if the term was not missed.
    /// @param credit The history, which is changed.
    /// @param paidUsd What was paid.
    /// @param debtUsd What was owed before.
    /// @param time Now.
    function recordPayment(Credit memory credit, uint256 paidUsd, uint256 debtUsd, uint256 time) internal pure {
        if (paidUsd < MIN_PAYMENT_USD || paidUsd * MIN_PAYMENT_SHARE < debtUsd) return;
        if (time < credit.lastBorrowAt + MIN_HELD || time < credit.lastPaymentAt + MIN_INTERVAL) return;
        if (!credit.late && credit.onTimePayments < type(uint8).max) ++credit.onTimePayments;
        credit.lastPaymentAt = uint40(time);
        credit.dueAt = uint40(time + TERM);
        credit.late = false;
    }

    /// @notice Enters a liquidation, at most one a day: liquidating in many small steps must not multiply the penalty.
    /// @param credit The history, which is changed.
    /// @param time Now.
    function recordLiquidation(Credit memory credit, uint256 time) internal pure {
        if (credit.lastLiquidationAt != 0 && time < credit.lastLiquidationAt + MIN_INTERVAL) return;
        credit.lastLiquidationAt = uint40(time);
        _penalise(credit, LIQUIDATION_PENALTY, time);
    }

    /// @notice Notes the state from which the next checkpoint counts.
    /// @param credit The history, which is changed.
    /// @param suppliedUsd What is supplied.
    /// @param debtUsd What is owed.
    /// @param healthFactorBps How far the collateral covers the debt.
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
