// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {CreditScore} from "./CreditScore.sol";
import {Clock, Credit, Valuation} from "./PoolTypes.sol";
import {Portfolio} from "./Portfolio.sol";

/// @title CreditHistory
/// @notice Updates of the credit history by a user's actions and by time.
library CreditHistory {
    using Portfolio for Valuation;

    uint256 internal constant TERM = 30 days;

    /// @dev A payment counts if it is at least this, in US dollars times 10^8, and a tenth of the debt, and if the debt was
    /// held for a day. Without the day, borrowing and repaying in one transaction would earn points.
    uint256 private constant MIN_PAYMENT_USD = 50e8;
    uint256 private constant MIN_PAYMENT_SHARE = 10;
    uint256 private constant MIN_HELD = 1 days;

    /// @dev A liquidation costs points once in this time.
    uint256 private constant PENALTY_INTERVAL = 1 days;

    uint256 private constant MIN_DEBT_USD = 50e8;
    uint256 private constant HEALTHY_BPS = 15_000;

    /// @dev Seconds do not count between two checkpoints at most this far apart that both find an insufficient state. It
    /// lets a daily refresh stop a clock, and limits what two dips can cost that were found without the recovery in between.
    uint256 private constant MAX_DIP = 2 days;

    uint256 private constant LATE_PENALTY = 40;
    uint256 private constant LIQUIDATION_PENALTY = 100;

    /// @dev The range of a score, and therefore the largest possible penalty.
    uint256 private constant MAX_PENALTY = CreditScore.MAX_SCORE - CreditScore.MIN_SCORE;

    /// @notice Adds the seconds since the last checkpoint that count, and notices a missed term.
    /// @param credit The history to update.
    /// @param valuation The value of the account now.
    /// @param time The current time.
    function checkpoint(Credit memory credit, Valuation memory valuation, uint256 time) internal pure {
        uint40 elapsed = uint40(time) - credit.checkpointAt;
        if (_counts(credit.depositClock, _isDepositing(valuation), elapsed)) credit.depositSeconds += elapsed;
        if (_counts(credit.healthClock, _isHealthy(valuation), elapsed)) credit.healthySeconds += elapsed;
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

    /// @notice Records a payment. One that counts renews the term, and earns points if the term was not missed. Points are
    /// earned once a term: terms that earned points do not overlap, whatever was repaid and borrowed again in between.
    /// @param credit The history to update.
    /// @param paidUsd The amount paid.
    /// @param debtUsd The debt before the payment.
    /// @param time The current time.
    function recordPayment(Credit memory credit, uint256 paidUsd, uint256 debtUsd, uint256 time) internal pure {
        if (paidUsd < MIN_PAYMENT_USD || paidUsd * MIN_PAYMENT_SHARE < debtUsd) return;
        if (time < credit.lastBorrowAt + MIN_HELD) return;
        if (!credit.late && time > credit.paidUntil) {
            if (credit.onTimePayments < type(uint8).max) ++credit.onTimePayments;
            credit.paidUntil = uint40(Math.max(credit.paidUntil + TERM, credit.dueAt));
        }
        credit.lastPaymentAt = uint40(time);
        credit.dueAt = uint40(time + TERM);
        credit.late = false;
    }

    /// @notice Records a liquidation, at most one per day: liquidating in many small steps must not multiply the penalty.
    /// @param credit The history to update.
    /// @param time The current time.
    function recordLiquidation(Credit memory credit, uint256 time) internal pure {
        if (credit.lastLiquidationAt != 0 && time < credit.lastLiquidationAt + PENALTY_INTERVAL) return;
        credit.lastLiquidationAt = uint40(time);
        _penalise(credit, LIQUIDATION_PENALTY, time);
    }

    /// @notice Records the state that an operation leaves, which starts or stops the clocks.
    /// @param credit The history to update.
    /// @param valuation The value of the account after the operation.
    /// @param owes Whether there is any debt, however small.
    function settle(Credit memory credit, Valuation memory valuation, bool owes) internal pure {
        credit.depositClock = _isDepositing(valuation) ? Clock.Running : Clock.Stopped;
        credit.healthClock = _isHealthy(valuation) ? Clock.Running : Clock.Stopped;
        if (!owes) (credit.dueAt, credit.late) = (0, false);
    }

    /// @notice Records the state that somebody other than the user finds. A sufficient one starts the clocks. An insufficient
    /// one may be a dip of a single block, and whoever finds that must not cost the user the time until the next operation;
    /// so it puts a running clock in doubt, and the next checkpoint shows whether it lasted.
    /// @param credit The history to update.
    /// @param valuation The value of the account now.
    function observe(Credit memory credit, Valuation memory valuation) internal pure {
        credit.depositClock = _observed(credit.depositClock, _isDepositing(valuation));
        credit.healthClock = _observed(credit.healthClock, _isHealthy(valuation));
    }

    function _observed(Clock clock, bool sufficient) private pure returns (Clock) {
        if (sufficient) return Clock.Running;
        return clock == Clock.Stopped ? Clock.Stopped : Clock.Doubted;
    }

    function _counts(Clock clock, bool sufficient, uint256 elapsed) private pure returns (bool) {
        if (clock == Clock.Doubted) return sufficient || elapsed > MAX_DIP;
        return clock == Clock.Running;
    }

    function _isDepositing(Valuation memory valuation) private pure returns (bool) {
        return valuation.suppliedUsd >= CreditScore.MIN_COLLATERAL_USD;
    }

    function _isHealthy(Valuation memory valuation) private pure returns (bool) {
        return valuation.debtUsd >= MIN_DEBT_USD && valuation.healthFactorBps() >= HEALTHY_BPS;
    }

    function _penalise(Credit memory credit, uint256 points, uint256 time) private pure {
        uint256 penalty = CreditScore.remainingPenalty(credit, time) + points;
        credit.penalty = uint16(Math.min(penalty, MAX_PENALTY));
        credit.penaltyAt = uint40(time);
    }
}
