// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ExactTransfer} from "../token/ExactTransfer.sol";
import {CreditHistory} from "./CreditHistory.sol";
import {ILendingPool} from "./ILendingPool.sol";
import {IPToken} from "./IPToken.sol";
import {Ledger} from "./Ledger.sol";
import {LiquidationMath, LiquidationTerms} from "./LiquidationMath.sol";
import {PoolAdmin} from "./PoolAdmin.sol";
import {Account, Holding, Reserve, Valuation} from "./PoolTypes.sol";
import {Portfolio} from "./Portfolio.sol";

/// @title PoolLiquidation
/// @notice Liquidation of debts that collateral no longer covers, and the write-off of debts without collateral.
abstract contract PoolLiquidation is PoolAdmin {
    using Ledger for Holding;
    using Portfolio for Account;
    using Portfolio for Valuation;

    /// @inheritdoc ILendingPool
    function liquidate(address borrower, address debtAsset, address collateralAsset, uint256 amount, bool inKind)
        external
        nonReentrant
    {
        _usable(debtAsset, amount);
        Reserve storage collateral = _usable(collateralAsset, amount);
        (Account memory account,) = _open(borrower);
        (LiquidationTerms memory terms, uint256 scaled) =
            _settle(account, debtAsset, collateralAsset, amount, inKind);

        emit Liquidation(
            borrower, debtAsset, collateralAsset, msg.sender, terms.repaid, terms.seized, terms.fee, inKind
        );
        if (account.value().suppliedUsd == 0) _writeOff(account);
        CreditHistory.recordLiquidation(account.credit, block.timestamp);
        _close(account);
        if (inKind) _receive(msg.sender, collateralAsset, scaled);

        ExactTransfer.pull(debtAsset, terms.repaid);
        IPToken pToken = IPToken(collateral.pToken);
        uint256 received = terms.seized - terms.fee;
        if (inKind) {
            pToken.recordTransfer(borrower, address(0), terms.fee);
            pToken.recordTransfer(borrower, msg.sender, received);
        } else {
            pToken.recordTransfer(borrower, address(0), terms.seized);
            ExactTransfer.push(collateralAsset, msg.sender, received);
        }
    }

    /// @inheritdoc ILendingPool
    function writeOff(address user) external nonReentrant {
        (Account memory account,) = _open(user);
        _requireFresh(account);
        Valuation memory valuation = account.value();
        if (valuation.suppliedUsd != 0 || !account.owes()) revert NotLiquidatable(valuation.healthFactorBps());
        _writeOff(account);
        _close(account);
    }

    /// @dev Credits a claim that another account transferred. That account is already closed, so its changes are in storage.
    function _receive(address user, address asset, uint256 scaled) internal {
        (Account memory account,) = _openFor(user, asset);
        account.find(asset).giveSupply(scaled);
        _close(account);
    }

    /// @dev No account may act on a stale price, even of an asset that the action does not touch: the whole account
    /// determines what it may do.
    function _requireFresh(Account memory account) internal pure {
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            if (!account.holdings[i].fresh) revert StalePrice(account.holdings[i].asset);
        }
    }

    /// @dev The score is the one the account was opened with, so that what the views show as available can be borrowed.
    function _requireCovered(Account memory account, uint256 score) internal pure {
        _requireFresh(account);
        uint256 debtUsd = account.value().debtUsd;
        uint256 power = account.borrowingPower(score);
        if (debtUsd > power) revert BorrowingPowerExceeded(debtUsd, power);
    }

    function _usable(address asset, uint256 amount) internal view returns (Reserve storage reserve) {
        if (amount == 0) revert ZeroAmount();
        reserve = _listed(asset);
        if (reserve.paused) revert AssetPaused(asset);
    }

    /// @dev Checks that the account can be liquidated, and liquidates it in memory.
    function _settle(Account memory account, address debtAsset, address collateralAsset, uint256 amount, bool inKind)
        private
        pure
        returns (LiquidationTerms memory terms, uint256 scaled)
    {
        _requireFresh(account);
        uint256 healthFactorBps = account.value().healthFactorBps();
        if (healthFactorBps >= Portfolio.BPS_DENOMINATOR) revert NotLiquidatable(healthFactorBps);
        Holding memory owed = account.find(debtAsset);
        if (owed.scaledDebt == 0) revert NothingOwed(debtAsset, account.user);
        Holding memory collateral = account.find(collateralAsset);
        if (collateral.scaledSupply == 0) revert NothingSupplied(collateralAsset, account.user);

        uint8 band = account.credit.band;
        terms = LiquidationMath.quote(owed, collateral, band, amount, healthFactorBps);
        if (terms.seized == 0) revert AmountTooSmall();
        owed.burnDebt(band, terms.repaid);
        uint256 paidOut = inKind ? 0 : terms.seized - terms.fee;
        uint256 cash = collateral.state.cash;
        if (paidOut > cash) revert InsufficientLiquidity(paidOut, cash);
        scaled = collateral.seizeSupply(terms.seized, terms.fee, inKind);
    }

    function _writeOff(Account memory account) private {
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            Holding memory holding = account.holdings[i];
            if (holding.scaledDebt == 0) continue;
            (uint256 amount, uint256 fromTreasury) = holding.writeOff(account.credit.band);
            emit DebtWrittenOff(holding.asset, account.user, amount, fromTreasury);
        }
    }
}
