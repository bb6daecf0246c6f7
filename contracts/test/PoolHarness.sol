// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IPriceOracle} from "../src/interfaces/IPriceOracle.sol";
import {LendingPool} from "../src/lending/LendingPool.sol";
import {Account, Position, Reserve, Valuation} from "../src/lending/PoolTypes.sol";

/// @title PoolHarness
/// @notice A lending pool in which tests can decide a user's score and position. Everything else is the pool's own.
contract PoolHarness is LendingPool {
    mapping(address user => uint256) private _forcedScores;

    constructor(address owner_, IPriceOracle oracle_) LendingPool(owner_, oracle_) {}

    /// @notice Fixes a user's score; 0 lets it follow from the history again.
    function forceScore(address user, uint256 score) external {
        _forcedScores[user] = score;
    }

    /// @notice Gives a user a position at indexes of one, as if deposited and borrowed just now.
    function forcePosition(address user, address asset, uint128 supplied, uint128 owed) external {
        Reserve storage reserve = _reserves[asset];
        _positions[user][reserve.id] = Position(supplied, owed);
        if (supplied != 0) _credits[user].collateral |= uint64(1 << reserve.id);
        if (owed != 0) _credits[user].borrowed |= uint64(1 << reserve.id);
        reserve.scaledSupply += supplied;
        reserve.cash += supplied;
        reserve.bands[_credits[user].band].scaledDebt += owed;
    }

    function _score(Account memory account, Valuation memory valuation) internal view override returns (uint256) {
        uint256 forced = _forcedScores[account.user];
        return forced == 0 ? super._score(account, valuation) : forced;
    }
}
