// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {CreditScore, ScoreParts} from "./CreditScore.sol";
import {ILendingPool, ReserveView} from "./ILendingPool.sol";
import {Interest} from "./Interest.sol";
import {Ledger} from "./Ledger.sol";
import {LiquidationMath, LiquidationTerms} from "./LiquidationMath.sol";
import {AccountView, LiquidationSide, PoolView, PositionView, ScoreView} from "./LensTypes.sol";
import {Account, BANDS, Credit, Holding, ReserveState, Valuation} from "./PoolTypes.sol";
import {Portfolio} from "./Portfolio.sol";
import {RateModel} from "./RateModel.sol";

/// @title LendingLens
/// @notice The data that a user interface needs about a lending pool, each in one call. The lens has no state and no rules
/// of its own: the pool returns the account that a transaction would start from, and both use the same libraries on it.
contract LendingLens {
    using Interest for ReserveState;
    using Ledger for Holding;
    using Portfolio for Account;
    using Portfolio for Holding;
    using Portfolio for Valuation;

    /// @notice The pool that this lens reads.
    ILendingPool public immutable pool;

    /// @param pool_ The pool to read.
    constructor(ILendingPool pool_) {
        pool = pool_;
    }

    /// @notice All assets of the pool.
    /// @return views One entry per asset, in the order in which they were added.
    function getPools() external view returns (PoolView[] memory views) {
        address[] memory assets = pool.getAssets();
        views = new PoolView[](assets.length);
        for (uint256 i = 0; i < assets.length; ++i) {
            views[i] = getPool(assets[i]);
        }
    }

    /// @notice A user's account, with each asset in which the user has supply or debt.
    /// @param user The user; an unknown one has the lowest score and an empty account.
    /// @return result The account.
    function getAccount(address user) external view returns (AccountView memory result) {
        (Account memory account, uint256 score) = pool.getAccount(user);
        Valuation memory valuation = account.value();
        result.score = score;
        result.band = account.credit.band;
        result.suppliedUsd = valuation.suppliedUsd;
        result.borrowingPowerUsd = account.borrowingPower(score);
        result.debtUsd = valuation.debtUsd;
        result.availableUsd = Math.saturatingSub(result.borrowingPowerUsd, result.debtUsd);
        result.healthFactorBps = valuation.healthFactorBps();
        result.dueAt = account.credit.dueAt;
        result.positions = new PositionView[](account.holdings.length);
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            result.positions[i] = _position(account.holdings[i], valuation, account.credit.band, score);
        }
    }

    /// @notice A user's credit score with its components.
    /// @param user The user.
    /// @return result The score and its components.
    function getScore(address user) external view returns (ScoreView memory result) {
        (Account memory account, uint256 score) = pool.getAccount(user);
        Valuation memory valuation = account.value();
        Credit memory credit = account.credit;
        result.healthFactorBps = valuation.healthFactorBps();
        ScoreParts memory parts = CreditScore.explain(
            credit, valuation.suppliedUsd, valuation.debtUsd, result.healthFactorBps, block.timestamp
        );
        (result.score, result.band) = (score, credit.band);
        (result.depositPoints, result.depositSeconds) = (parts.depositPoints, credit.depositSeconds);
        (result.paymentPoints, result.onTimePayments) = (parts.paymentPoints, credit.onTimePayments);
        (result.historyPoints, result.healthySeconds) = (parts.historyPoints, credit.healthySeconds);
        (result.healthPoints, result.overduePoints) = (parts.healthPoints, parts.overduePoints);
        (result.penaltyPoints, result.penalty, result.penaltyAt) =
            (parts.penaltyPoints, credit.penalty, credit.penaltyAt);
        (result.dueAt, result.late) = (credit.dueAt, credit.late);
        (result.lastBorrowAt, result.lastPaymentAt) = (credit.lastBorrowAt, credit.lastPaymentAt);
    }

    /// @notice The price of an asset at which a user can be liquidated, with all other prices unchanged.
    /// @param user The user.
    /// @param asset The asset.
    /// @return price The price in US dollars times 10^8, rounded towards the current one; 0 if there is none.
    /// @return side Whether liquidation happens below or above that price.
    function getLiquidationPrice(address user, address asset)
        external
        view
        returns (uint256 price, LiquidationSide side)
    {
        (Account memory account,) = pool.getAccount(user);
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            if (account.holdings[i].asset != asset) continue;
            return _liquidationPrice(account.holdings[i], account.value(), account.credit.band);
        }
    }

    /// @notice The amounts of a liquidation in this block; zero if the borrower cannot be liquidated.
    /// @param borrower The borrower.
    /// @param debtAsset The asset to repay.
    /// @param collateralAsset The asset to receive.
    /// @param amount The maximum amount to repay.
    /// @return repaid The amount that would be repaid.
    /// @return received The amount that the liquidator would receive.
    function quoteLiquidation(address borrower, address debtAsset, address collateralAsset, uint256 amount)
        external
        view
        returns (uint256 repaid, uint256 received)
    {
        (Account memory account,) = pool.getAccount(borrower);
        uint256 healthFactorBps = account.value().healthFactorBps();
        if (healthFactorBps >= Portfolio.BPS_DENOMINATOR) return (0, 0);
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            if (!account.holdings[i].fresh) return (0, 0);
        }
        Holding memory owed = account.find(debtAsset);
        Holding memory collateral = account.find(collateralAsset);
        if (owed.scaledDebt == 0 || collateral.scaledSupply == 0) return (0, 0);
        LiquidationTerms memory terms =
            LiquidationMath.quote(owed, collateral, account.credit.band, amount, healthFactorBps);
        return terms.seized == 0 ? (0, 0) : (terms.repaid, terms.seized - terms.fee);
    }

    /// @notice One asset of the pool.
    /// @param asset The asset.
    /// @return result The asset's state and parameters.
    function getPool(address asset) public view returns (PoolView memory result) {
        ReserveView memory reserve = pool.getReserve(asset);
        ReserveState memory state = reserve.state;
        (result.asset, result.pToken) = (asset, reserve.pToken);
        (result.symbol, result.decimals) = (IERC20Metadata(asset).symbol(), reserve.decimals);
        (result.totalSupplied, result.totalDebt) = (state.totalSupplied(), state.totalDebt());
        (result.cash, result.treasury, result.deficit) = (state.cash, state.treasury, state.deficit);
        result.utilisation = RateModel.utilisation(state.cash, result.totalDebt);
        result.annualRate = RateModel.annualRate(reserve.parameters, result.utilisation);
        for (uint256 band = 0; band < BANDS; ++band) {
            result.borrowRates[band] = RateModel.perSecond(result.annualRate, band);
        }
        result.supplyRate = state.supplyRate(reserve.parameters);
        result.liquidityIndex = state.liquidityIndex;
        (result.supplyCap, result.borrowCap) = (reserve.supplyCap, reserve.borrowCap);
        (result.price, result.priceFresh) = pool.oracle().readPrice(asset);
        (result.paused, result.parameters) = (reserve.paused, reserve.parameters);
    }

    function _position(Holding memory holding, Valuation memory valuation, uint256 band, uint256 score)
        private
        view
        returns (PositionView memory result)
    {
        IERC20Metadata asset = IERC20Metadata(holding.asset);
        (result.asset, result.symbol, result.decimals) = (holding.asset, asset.symbol(), asset.decimals());
        (result.supplied, result.debt) = (holding.supplied(), holding.debt(band));
        (result.price, result.priceFresh) = (holding.price, holding.fresh);
        (result.suppliedUsd, result.debtUsd) = (holding.suppliedUsd(), holding.debtUsd(band));
        result.supplyRate = holding.state.supplyRate(holding.parameters);
        uint256 utilisation = RateModel.utilisation(holding.state.cash, holding.state.totalDebt());
        result.borrowRate = RateModel.perSecond(RateModel.annualRate(holding.parameters, utilisation), band);
        result.loanToValueBps = Portfolio.loanToValueBps(holding.parameters, score);
        result.liquidationThresholdBps = holding.parameters.liquidationThresholdBps;
        (result.liquidationPrice, result.liquidationSide) = _liquidationPrice(holding, valuation, band);
    }

    /// @dev Solves cover = debt for the price of one asset. An account with more cover than debt in it is at risk from a
    /// falling price, one with more debt than cover from a rising price; the other assets determine the distance.
    function _liquidationPrice(Holding memory holding, Valuation memory valuation, uint256 band)
        private
        pure
        returns (uint256 price, LiquidationSide side)
    {
        uint256 threshold = holding.parameters.liquidationThresholdBps;
        uint256 ownCover = (holding.suppliedUsd() * threshold) / Portfolio.BPS_DENOMINATOR;
        uint256 otherCover = valuation.coverUsd - ownCover;
        uint256 otherDebt = valuation.debtUsd - holding.debtUsd(band);
        uint256 cover = holding.supplied() * threshold;
        uint256 debt = holding.debt(band) * Portfolio.BPS_DENOMINATOR;
        uint256 scale = holding.unit * Portfolio.BPS_DENOMINATOR;
        if (cover > debt && otherDebt > otherCover) {
            price = Math.mulDiv(otherDebt - otherCover, scale, cover - debt, Math.Rounding.Ceil);
            return (price, LiquidationSide.Below);
        }
        if (debt > cover && otherCover > otherDebt) {
            return (Math.mulDiv(otherCover - otherDebt, scale, debt - cover), LiquidationSide.Above);
        }
    }
}
