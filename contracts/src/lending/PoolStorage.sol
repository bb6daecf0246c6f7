// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IPriceOracle} from "../interfaces/IPriceOracle.sol";
import {CreditHistory} from "./CreditHistory.sol";
import {CreditScore} from "./CreditScore.sol";
import {ILendingPool} from "./ILendingPool.sol";
import {Interest} from "./Interest.sol";
import {Ledger} from "./Ledger.sol";
import {
    Account,
    BANDS,
    Band,
    Credit,
    Holding,
    Position,
    Reserve,
    ReserveState,
    Valuation
} from "./PoolTypes.sol";
import {Portfolio} from "./Portfolio.sol";

/// @title PoolStorage
/// @notice A pool's storage. An operation accesses it in two steps only: it opens a user's account into memory, and closes
/// it again after working on it. Reading, arithmetic and writing never mix.
abstract contract PoolStorage is ILendingPool {
    using SafeCast for uint256;
    using Portfolio for Account;
    using Portfolio for Valuation;
    using Ledger for Holding;

    IPriceOracle internal _oracle;
    address[] internal _assets;
    mapping(address asset => Reserve) internal _reserves;
    mapping(address user => Credit) internal _credits;
    mapping(address user => mapping(uint256 assetId => Position)) internal _positions;

    /// @dev Opens a user's account: interest and credit history up to now, and the band of the resulting score. Only assets
    /// that are collateral or debt are read, so that claims from strangers make no operation dearer.
    function _open(address user) internal view returns (Account memory account, uint256 score) {
        return _openWith(user, 0);
    }

    /// @dev The same, with room for one more asset, in which the user may have no position yet.
    function _openFor(address user, address asset) internal view returns (Account memory account, uint256 score) {
        return _openWith(user, _bit(asset));
    }

    /// @dev The same, with the given assets in addition, as one bit per asset id.
    function _openWith(address user, uint256 extra) internal view returns (Account memory account, uint256 score) {
        Valuation memory valuation;
        (account, valuation) = _loadAccount(user, extra);
        score = _score(account, valuation);
        account.moveBand(CreditScore.bandOf(score));
    }

    /// @dev Closes an account: records the state for the next checkpoint and the band of the new score, writes all changes to
    /// storage and emits their events.
    function _close(Account memory account) internal {
        Valuation memory valuation = account.value();
        CreditHistory.settle(account.credit, valuation, account.owes());
        uint256 score = _score(account, valuation);
        account.moveBand(CreditScore.bandOf(score));
        _storeAccount(account, score);
    }

    /// @dev Brings a user's account up to date in somebody else's transaction, and credits a claim of `scaled` on `asset`. The
    /// band falls only as far as the history demands: the points for present health depend on when the caller looks.
    function _update(address user, address asset, uint256 scaled) internal {
        (Account memory account, Valuation memory valuation) = _loadAccount(user, 0);
        if (scaled != 0) {
            account.find(asset).giveSupply(scaled);
            valuation = account.value();
        }
        CreditHistory.observe(account.credit, valuation);
        uint256 score = _score(account, valuation);
        Valuation memory healthy = Valuation(CreditScore.MIN_COLLATERAL_USD, 0, 0);
        uint256 highest = CreditScore.bandOf(_score(account, healthy));
        uint256 kept = Math.min(account.credit.band, highest);
        account.moveBand(uint8(Math.max(CreditScore.bandOf(score), kept)));
        _storeAccount(account, score);
    }

    function _storeAccount(Account memory account, uint256 score) private {
        Credit memory credit = account.credit;
        for (uint256 i = 0; i < account.holdings.length; ++i) {
            Holding memory holding = account.holdings[i];
            if (!holding.changed) continue;
            _storeState(holding.asset, holding.state);
            _storePosition(account.user, holding, credit);
        }
        _credits[account.user] = credit;
        emit CreditUpdated(account.user, score, credit);
    }

    /// @dev An asset's state with interest up to now.
    function _load(Reserve storage reserve) internal view returns (ReserveState memory state) {
        (state.cash, state.treasury, state.deficit) = (reserve.cash, reserve.treasury, reserve.deficit);
        (state.liquidityIndex, state.scaledSupply) = (reserve.liquidityIndex, reserve.scaledSupply);
        for (uint256 i = 0; i < BANDS; ++i) {
            Band memory band = reserve.bands[i];
            (state.borrowIndexes[i], state.scaledDebts[i]) = (band.borrowIndex, band.scaledDebt);
        }
        Interest.accrue(state, reserve.parameters, block.timestamp - reserve.updatedAt);
    }

    function _storeState(address asset, ReserveState memory state) internal {
        Reserve storage reserve = _reserves[asset];
        reserve.updatedAt = uint40(block.timestamp);
        (reserve.cash, reserve.treasury) = (state.cash.toUint128(), state.treasury.toUint128());
        reserve.deficit = state.deficit;
        (reserve.liquidityIndex, reserve.scaledSupply) =
            (state.liquidityIndex.toUint128(), state.scaledSupply.toUint128());
        for (uint256 i = 0; i < BANDS; ++i) {
            reserve.bands[i] = Band(state.borrowIndexes[i].toUint128(), state.scaledDebts[i].toUint128());
        }
        emit ReserveUpdated(asset, state);
    }

    /// @dev The only place that computes the score of an account.
    function _score(Account memory account, Valuation memory valuation) internal view virtual returns (uint256) {
        return CreditScore.explain(
            account.credit, valuation.suppliedUsd, valuation.debtUsd, valuation.healthFactorBps(), block.timestamp
        ).score;
    }

    function _bit(address asset) internal view returns (uint256) {
        return 1 << _reserves[asset].id;
    }

    function _loadAccount(address user, uint256 extra)
        private
        view
        returns (Account memory account, Valuation memory valuation)
    {
        account.user = user;
        account.credit = _credits[user];
        _loadHoldings(account, account.credit.borrowed | account.credit.collateral | extra);
        valuation = account.value();
        CreditHistory.checkpoint(account.credit, valuation, block.timestamp);
    }

    function _loadHoldings(Account memory account, uint256 assets) private view {
        uint256 count = 0;
        for (uint256 bits = assets; bits != 0; bits &= bits - 1) ++count;
        account.holdings = new Holding[](count);
        uint256 next = 0;
        for (uint256 id = 0; next < count; ++id) {
            if (assets & (1 << id) == 0) continue;
            Holding memory holding = account.holdings[next++];
            holding.collateral = account.credit.collateral & (1 << id) != 0;
            _loadHolding(holding, account.user, id);
        }
    }

    function _loadHolding(Holding memory holding, address user, uint256 id) private view {
        address asset = _assets[id];
        Reserve storage reserve = _reserves[asset];
        Position memory position = _positions[user][id];
        (holding.asset, holding.id, holding.unit) = (asset, id, 10 ** reserve.decimals);
        (holding.scaledSupply, holding.scaledDebt) = (position.scaledSupply, position.scaledDebt);
        (holding.price, holding.fresh, holding.halted) = _oracle.readPrice(asset);
        holding.parameters = reserve.parameters;
        holding.state = _load(reserve);
    }

    function _storePosition(address user, Holding memory holding, Credit memory credit) private {
        (uint256 supply, uint256 debt) = (holding.scaledSupply, holding.scaledDebt);
        _positions[user][holding.id] = Position(supply.toUint128(), debt.toUint128());
        uint256 bit = 1 << holding.id;
        credit.borrowed = uint64(debt == 0 ? credit.borrowed & ~bit : credit.borrowed | bit);
        credit.collateral = uint64(holding.collateral ? credit.collateral | bit : credit.collateral & ~bit);
        emit PositionUpdated(user, holding.asset, supply, debt, credit.band);
    }
}
