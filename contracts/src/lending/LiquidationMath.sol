// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Ledger} from "./Ledger.sol";
import {Holding} from "./PoolTypes.sol";
import {Portfolio} from "./Portfolio.sol";

/// @notice What a liquidation moves: the debt repaid, the collateral seized, and the treasury's part of the latter.
struct LiquidationTerms {
    uint256 repaid;
    uint256 seized;
    uint256 fee;
}

/// @title LiquidationMath
/// @notice How much of a debt may be liquidated, and for how much collateral.
library LiquidationMath {
    using Ledger for Holding;
    using Portfolio for Holding;

    uint256 private constant BPS = 10_000;

    /// @dev Half of a debt at a time gives a borrower in passing trouble a second chance. Deep trouble, or a position not
    /// worth two transactions, goes at once.
    uint256 private constant CLOSE_FACTOR = 2;
    uint256 private constant FULL_CLOSE_BELOW_BPS = 9_500;
    uint256 private constant FULL_CLOSE_BELOW_USD = 2_000e8;

    /// @dev The treasury's part of the bonus: one in ten.
    uint256 private constant TREASURY_SHARE = 10;

    /// @notice The terms on which a borrower's debt can be liquidated.
    /// @param owed The borrower's part of the asset to repay; something is owed.
    /// @param collateral The borrower's part of the asset to seize; something is supplied.
    /// @param band The borrower's credit band.
    /// @param amount How much the liquidator offers to repay.
    /// @param healthFactorBps The borrower's health factor.
    /// @return terms The terms.
    function quote(
        Holding memory owed,
        Holding memory collateral,
        uint256 band,
        uint256 amount,
        uint256 healthFactorBps
    ) internal pure returns (LiquidationTerms memory terms) {
        uint256 withBonus = BPS + collateral.parameters.liquidationBonusBps;
        uint256 supplied = collateral.supplied();
        terms.repaid = Math.min(amount, repayable(owed, collateral, band, healthFactorBps));
        terms.seized = Math.mulDiv(
            terms.repaid * owed.price * withBonus, collateral.unit, collateral.price * owed.unit * BPS
        );
        if (terms.seized > supplied) {
            terms.seized = supplied;
            terms.repaid = Math.min(
                terms.repaid,
                Math.mulDiv(
                    supplied * collateral.price * BPS,
                    owed.unit,
                    owed.price * collateral.unit * withBonus,
                    Math.Rounding.Ceil
                )
            );
        }
        uint256 bonus = (terms.seized * collateral.parameters.liquidationBonusBps) / withBonus;
        terms.fee = Math.ceilDiv(bonus, TREASURY_SHARE);
    }

    /// @notice How much of a debt may be repaid in one liquidation.
    /// @param owed The borrower's part of the asset to repay.
    /// @param collateral The borrower's part of the asset to seize.
    /// @param band The borrower's credit band.
    /// @param healthFactorBps The borrower's health factor.
    /// @return The amount.
    function repayable(Holding memory owed, Holding memory collateral, uint256 band, uint256 healthFactorBps)
        internal
        pure
        returns (uint256)
    {
        uint256 debt = owed.debt(band);
        bool atOnce = healthFactorBps < FULL_CLOSE_BELOW_BPS || owed.debtUsd(band) < FULL_CLOSE_BELOW_USD
            || collateral.suppliedUsd() < FULL_CLOSE_BELOW_USD;
        return atOnce ? debt : debt / CLOSE_FACTOR;
    }
}
