// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {CreditScore, ScoreParts} from "./CreditScore.sol";
import {ILendingPool, ReserveView} from "./ILendingPool.sol";
import {Interest} from "./Interest.sol";
import {Ledger} from "./Ledger.sol";
import {LiquidationMath, LiquidationTerms} from "./LiquidationMath.sol";
import {AccountView, LimitsView, LiquidationSide, PoolView, PositionView, ScoreView} from "./LensTypes.sol";
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

    /// @dev The gas for a call of an asset's `symbol()`.
    uint256 private constant SYMBOL_GAS = 100_000;

    /// @dev The length in bytes of the longest symbol.
    uint256 private constant SYMBOL_LENGTH = 64;

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

    /// @notice A user's account, with each asset in which the user has supply or debt. For a supply that is not collateral,
    /// the loan-to-value ratio and the liquidation threshold are 0; the former also while the price is stale or halted.
    /// `availableUsd` is 0 while the price of a debt is stale or halted.
    /// @param user The user; an unknown one has the lowest score and an empty account.
    /// @return result The account.
    function getAccount(address user) external view returns (AccountView memory result) {
        (Account memory account, uint256 score) = pool.getAccount(user);
        Valuation memory valuation = account.value();
        result.score = score;
        result.band = account.credit.band;
        result.borrowingPowerUsd = account.borrowingPower(score);
        result.debtUsd = valuation.debtUsd;
        result.availableUsd = Math.saturatingSub(result.borrowingPowerUsd, result.debtUsd);
        result.healthFactorBps = valuation.healthFactorBps();
        result.dueAt = account.credit.dueAt;
        PositionView[] memory positions = new PositionView[](account.holdings.length);
        uint256 count = 0;
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            Holding memory holding = account.holdings[i];
            // An asset may be enabled as collateral before there is any.
            if (holding.scaledSupply == 0 && holding.scaledDebt == 0) continue;
            positions[count++] = _position(holding, valuation, account.credit.band, score);
            result.suppliedUsd += holding.suppliedUsd();
            if (holding.scaledDebt != 0 && !holding.isReliable()) result.availableUsd = 0;
        }
        result.positions = new PositionView[](count);
        for (uint256 i = 0; i < count; ++i) {
            result.positions[i] = positions[i];
        }
    }

    /// @notice The assets that are enabled as collateral of a user.
    /// @param user The user.
    /// @return assets The assets, in the order in which they were added to the pool.
    function getCollateral(address user) external view returns (address[] memory assets) {
        (Account memory account,) = pool.getAccount(user);
        uint256 count = 0;
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            if (account.holdings[i].collateral) ++count;
        }
        assets = new address[](count);
        for (uint256 i = account.holdings.length; i > 0; --i) {
            if (account.holdings[i - 1].collateral) assets[--count] = account.holdings[i - 1].asset;
        }
    }

    /// @notice The limits on the supply and the loans of an asset.
    /// @param asset The asset.
    /// @return result The limits.
    function getLimits(address asset) external view returns (LimitsView memory result) {
        ReserveView memory reserve = pool.getReserve(asset);
        (result.supplyCapTokens, result.borrowCapTokens) = (reserve.supplyCapTokens, reserve.borrowCapTokens);
        result.leastLoanUsd = pool.leastLoanUsd();
        result.priceHalted = pool.oracle().halted(asset);
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
        Holding memory owed = account.find(debtAsset);
        Holding memory collateral = account.find(collateralAsset);
        if (owed.scaledDebt == 0 || collateral.scaledSupply == 0 || !collateral.collateral) return (0, 0);
        if (!owed.fresh || !collateral.fresh) return (0, 0);
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
        (result.symbol, result.decimals) = (_symbol(asset), reserve.decimals);
        (result.totalSupplied, result.totalDebt) = (state.totalSupplied(), state.totalDebt());
        (result.cash, result.treasury, result.deficit) = (state.cash, state.treasury, state.deficit);
        result.utilisation = RateModel.utilisation(state.cash, result.totalDebt);
        result.annualRate = RateModel.annualRate(reserve.parameters, result.utilisation);
        for (uint256 band = 0; band < BANDS; ++band) {
            result.borrowRates[band] = RateModel.perSecond(result.annualRate, band);
        }
        result.supplyRate = state.supplyRate(reserve.parameters);
        result.liquidityIndex = state.liquidityIndex;
        uint256 unit = 10 ** reserve.decimals;
        (result.supplyCap, result.borrowCap) = (reserve.supplyCapTokens * unit, reserve.borrowCapTokens * unit);
        (result.price, result.priceFresh,) = pool.oracle().readPrice(asset);
        (result.paused, result.parameters) = (reserve.paused, reserve.parameters);
    }

    function _position(Holding memory holding, Valuation memory valuation, uint256 band, uint256 score)
        private
        view
        returns (PositionView memory result)
    {
        (result.asset, result.symbol) = (holding.asset, _symbol(holding.asset));
        result.decimals = uint8(Math.log10(holding.unit));
        (result.supplied, result.debt) = (holding.supplied(), holding.debt(band));
        (result.price, result.priceFresh) = (holding.price, holding.fresh);
        (result.suppliedUsd, result.debtUsd) = (holding.suppliedUsd(), holding.debtUsd(band));
        result.supplyRate = holding.state.supplyRate(holding.parameters);
        uint256 utilisation = RateModel.utilisation(holding.state.cash, holding.state.totalDebt());
        result.borrowRate = RateModel.perSecond(RateModel.annualRate(holding.parameters, utilisation), band);
        result.loanToValueBps = holding.loanToValueBps(score);
        result.liquidationThresholdBps = holding.liquidationThresholdBps();
        (result.liquidationPrice, result.liquidationSide) = _liquidationPrice(holding, valuation, band);
    }

    /// @dev The symbol of an asset; empty if it has none of at most 64 bytes. Assets are code of others: whatever one of them
    /// does, the views of the other assets remain.
    function _symbol(address asset) private view returns (string memory symbol) {
        bytes memory input = abi.encodeCall(IERC20Metadata.symbol, ());
        // The offset of the string, its length, and its bytes.
        bytes memory output = new bytes(64 + SYMBOL_LENGTH);
        bool success;
        uint256 size;
        uint256 offset;
        assembly ("memory-safe") {
            success := staticcall(SYMBOL_GAS, asset, add(input, 32), mload(input), add(output, 32), mload(output))
            size := returndatasize()
            offset := mload(add(output, 32))
            symbol := add(output, 64)
        }
        uint256 length = bytes(symbol).length;
        if (!success || offset != 32 || length > SYMBOL_LENGTH || size < 64 + length) return "";
    }

    /// @dev Solves cover = debt for the price of one asset. An account with more cover than debt in it is at risk from a
    /// falling price, one with more debt than cover from a rising price; the other assets determine the distance.
    function _liquidationPrice(Holding memory holding, Valuation memory valuation, uint256 band)
        private
        pure
        returns (uint256 price, LiquidationSide side)
    {
        uint256 threshold = holding.liquidationThresholdBps();
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
