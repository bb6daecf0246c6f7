// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {CreditScore} from "./CreditScore.sol";
import {Ledger} from "./Ledger.sol";
import {Account, AssetParameters, Holding, Valuation} from "./PoolTypes.sol";

/// @title Portfolio
/// @notice What an account is worth and what it may borrow. Dollars have 8 decimals; every asset is rounded down and every
/// debt up on its own, so the sums are what a user can check line by line.
library Portfolio {
    using Ledger for Holding;

    uint256 internal constant BPS_DENOMINATOR = 10_000;

    /// @notice The value of an account.
    function value(Account memory account) internal pure returns (Valuation memory valuation) {
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            Holding memory holding = account.holdings[i];
            uint256 usd = suppliedUsd(holding);
            valuation.suppliedUsd += usd;
            valuation.debtUsd += debtUsd(holding, account.credit.band);
            valuation.coverUsd += (usd * holding.parameters.liquidationThresholdBps) / BPS_DENOMINATOR;
        }
    }

    /// @notice What an account may owe at most, for a given score.
    function borrowingPower(Account memory account, uint256 score) internal pure returns (uint256 power) {
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            Holding memory holding = account.holdings[i];
            power += (suppliedUsd(holding) * loanToValueBps(holding.parameters, score)) / BPS_DENOMINATOR;
        }
    }

    /// @notice How far the collateral covers the debt, in basis points; the largest number without debt.
    function healthFactorBps(Valuation memory valuation) internal pure returns (uint256) {
        if (valuation.debtUsd == 0) return type(uint256).max;
        return (valuation.coverUsd * BPS_DENOMINATOR) / valuation.debtUsd;
    }

    /// @notice What a user supplied of an asset, in US dollars, rounded down.
    function suppliedUsd(Holding memory holding) internal pure returns (uint256) {
        return (holding.supplied() * holding.price) / holding.unit;
    }

    /// @notice What a user owes of an asset, in US dollars, rounded up.
    function debtUsd(Holding memory holding, uint256 band) internal pure returns (uint256) {
        return Math.ceilDiv(holding.debt(band) * holding.price, holding.unit);
    }

    /// @notice How much may be borrowed against an asset at a given score.
    function loanToValueBps(AssetParameters memory parameters, uint256 score) internal pure returns (uint256) {
        return CreditScore.loanToValueBps(parameters.minLtvBps, parameters.maxLtvBps, score);
    }

    /// @notice The account's part of an asset; an empty one if it has none.
    function find(Account memory account, address asset) internal pure returns (Holding memory none) {
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            if (account.holdings[i].asset == asset) return account.holdings[i];
        }
    }

    /// @notice Whether the account has any debt, however small.
    function owes(Account memory account) internal pure returns (bool) {
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            if (account.holdings[i].scaledDebt != 0) return true;
        }
        return false;
    }

    /// @notice Moves the account to another credit band, rewriting its debts.
    function moveBand(Account memory account, uint8 band) internal pure {
        uint8 from = account.credit.band;
        if (from == band) return;
        account.credit.band = band;
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            if (account.holdings[i].scaledDebt != 0) account.holdings[i].moveDebt(from, band);
        }
    }
}
