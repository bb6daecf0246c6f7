// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Ledger} from "./Ledger.sol";
import {Holding} from "./PoolTypes.sol";
import {Portfolio} from "./Portfolio.sol";

/// @notice The amounts of a liquidation: the debt repaid, the collateral seized, and the treasury's share of the latter.
struct LiquidationTerms {
    uint256 repaid;
    uint256 seized;
    uint256 fee;
}

/// @title LiquidationMath
/// @notice The part of a debt that can be liquidated, and the collateral seized for it.
library LiquidationMath {
    using Ledger for Holding;
    using Portfolio for Holding;

    uint256 private constant BPS = 10_000;

    /// @dev Only half of a debt can be liquidated at a time, so that a borrower can recover. A position far below the
    /// threshold, or too small for two transactions, can be liquidated completely.
    uint256 private constant CLOSE_FACTOR = 2;
    uint256 private constant FULL_CLOSE_BELOW_BPS = 9_500;
    uint256 private constant FULL_CLOSE_BELOW_USD = 2_000e8;

    /// @dev The treasury's share of the bonus: a tenth.
    uint256 private constant TREASURY_SHARE = 10;

    /// @notice The terms on which a borrower's debt can be liquidated.
    /// @param owed The borrower's position in the asset to repay, with a debt.
    /// @param collateral The borrower's position in the asset to seize, with a supply.
    /// @param band The borrower's credit band.
    /// @param amount The amount that the liquidator offers to repay.
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

    /// @notice The maximum debt repaid in one liquidation.
    /// @param owed The borrower's position in the asset to repay.
    /// @param collateral The borrower's position in the asset to seize.
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
