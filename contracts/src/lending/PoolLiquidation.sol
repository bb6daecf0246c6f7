// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {ExactTransfer} from "../token/ExactTransfer.sol";
import {CreditHistory} from "./CreditHistory.sol";
import {ILendingPool} from "./ILendingPool.sol";
import {IPToken} from "./IPToken.sol";
import {Ledger} from "./Ledger.sol";
import {LiquidationMath, LiquidationTerms} from "./LiquidationMath.sol";
import {PoolAdmin} from "./PoolAdmin.sol";
import {Account, Credit, Holding, Position, Reserve, Valuation} from "./PoolTypes.sol";
import {Portfolio} from "./Portfolio.sol";

/// @title PoolLiquidation
/// @notice Liquidation of debts that collateral no longer covers, and the write-off of debts without collateral.
abstract contract PoolLiquidation is PoolAdmin {
    using SafeCast for uint256;
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
        (Account memory account,) = _openWith(borrower, _bit(debtAsset) | _bit(collateralAsset));
        (LiquidationTerms memory terms, uint256 scaled) =
            _settle(account, debtAsset, collateralAsset, amount, inKind);

        emit Liquidation(
            borrower, debtAsset, collateralAsset, msg.sender, terms.repaid, terms.seized, terms.fee, inKind
        );
        if (account.value().suppliedUsd == 0 && account.staleCollateral() == address(0)) _writeOff(account);
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
        address stale = account.staleCollateral();
        if (stale != address(0)) revert StalePrice(stale);
        Valuation memory valuation = account.value();
        if (valuation.suppliedUsd != 0 || !account.owes()) revert NotLiquidatable(valuation.healthFactorBps());
        _writeOff(account);
        _close(account);
    }

    /// @dev Credits a claim that another account transferred. That account is already closed, so its changes are in storage.
    /// A claim that is not collateral concerns nothing else of the receiver's account.
    function _receive(address user, address asset, uint256 scaled) internal {
        Credit storage credit = _credits[user];
        if (credit.collateral & _bit(asset) != 0) return _update(user, asset, scaled);
        Position storage position = _positions[user][_reserves[asset].id];
        position.scaledSupply = (position.scaledSupply + scaled).toUint128();
        emit PositionUpdated(user, asset, position.scaledSupply, position.scaledDebt, credit.band);
    }

    /// @dev Checks that the account may have its debts with less collateral or more debt in `asset`. A price that cannot be
    /// relied on stops the operation if it is a debt's or the asset's own; the borrowing power leaves out other collateral.
    /// The score is the one the account was opened with, so that what the views show as available can be borrowed.
    function _requireCovered(Account memory account, uint256 score, address asset) internal pure {
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            Holding memory holding = account.holdings[i];
            if (holding.scaledDebt == 0 && holding.asset != asset) continue;
            if (!holding.fresh) revert StalePrice(holding.asset);
            if (holding.halted) revert TokenHalted(holding.asset);
        }
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
        Holding memory owed = account.find(debtAsset);
        Holding memory collateral = account.find(collateralAsset);
        if (!owed.fresh) revert StalePrice(debtAsset);
        if (!collateral.fresh) revert StalePrice(collateralAsset);
        uint256 healthFactorBps = account.value().healthFactorBps();
        if (healthFactorBps >= Portfolio.BPS_DENOMINATOR) revert NotLiquidatable(healthFactorBps);
        if (owed.scaledDebt == 0) revert NothingOwed(debtAsset, account.user);
        if (collateral.scaledSupply == 0) revert NothingSupplied(collateralAsset, account.user);
        if (!collateral.collateral) revert NotCollateral(collateralAsset, account.user);

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
