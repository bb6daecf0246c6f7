// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {CreditScore} from "./CreditScore.sol";
import {Ledger} from "./Ledger.sol";
import {Account, Holding, Valuation} from "./PoolTypes.sol";

/// @title Portfolio
/// @notice The value and the borrowing power of an account. Dollars have 8 decimals; each asset is rounded down and each
/// debt up separately, so that a user can verify the sums line by line.
library Portfolio {
    using Ledger for Holding;

    uint256 internal constant BPS_DENOMINATOR = 10_000;

    /// @notice The value of an account.
    function value(Account memory account) internal pure returns (Valuation memory valuation) {
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            Holding memory holding = account.holdings[i];
            uint256 usd = holding.collateral ? suppliedUsd(holding) : 0;
            valuation.suppliedUsd += usd;
            valuation.debtUsd += debtUsd(holding, account.credit.band);
            valuation.coverUsd += (usd * liquidationThresholdBps(holding)) / BPS_DENOMINATOR;
        }
    }

    /// @notice The borrowing power of an account at a given score. Collateral without a reliable price has none.
    function borrowingPower(Account memory account, uint256 score) internal pure returns (uint256 power) {
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            Holding memory holding = account.holdings[i];
            power += (suppliedUsd(holding) * loanToValueBps(holding, score)) / BPS_DENOMINATOR;
        }
    }

    /// @notice The health factor in basis points; the largest uint256 without debt.
    function healthFactorBps(Valuation memory valuation) internal pure returns (uint256) {
        if (valuation.debtUsd == 0) return type(uint256).max;
        return (valuation.coverUsd * BPS_DENOMINATOR) / valuation.debtUsd;
    }

    /// @notice The value of a user's supply of an asset in US dollars, rounded down.
    function suppliedUsd(Holding memory holding) internal pure returns (uint256) {
        return (holding.supplied() * holding.price) / holding.unit;
    }

    /// @notice The value of a user's debt in an asset in US dollars, rounded up.
    function debtUsd(Holding memory holding, uint256 band) internal pure returns (uint256) {
        return Math.ceilDiv(holding.debt(band) * holding.price, holding.unit);
    }

    /// @notice The loan-to-value ratio of a user's supply at a given score; 0 if it is not collateral or has no reliable
    /// price.
    function loanToValueBps(Holding memory holding, uint256 score) internal pure returns (uint256) {
        if (!holding.collateral || !isReliable(holding)) return 0;
        return CreditScore.loanToValueBps(holding.parameters.minLtvBps, holding.parameters.maxLtvBps, score);
    }

    /// @notice The liquidation threshold of a user's supply; 0 if it is not collateral.
    function liquidationThresholdBps(Holding memory holding) internal pure returns (uint256) {
        return holding.collateral ? holding.parameters.liquidationThresholdBps : 0;
    }

    /// @notice Whether new debt may rest on the price: it is recent, and not known to be behind its source.
    function isReliable(Holding memory holding) internal pure returns (bool) {
        return holding.fresh && !holding.halted;
    }

    /// @notice The first collateral without a fresh price; the zero address if there is none.
    function staleCollateral(Account memory account) internal pure returns (address) {
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            Holding memory holding = account.holdings[i];
            if (holding.collateral && holding.scaledSupply != 0 && !holding.fresh) return holding.asset;
        }
        return address(0);
    }

    /// @notice The account's position in an asset; an empty one if it has none.
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
