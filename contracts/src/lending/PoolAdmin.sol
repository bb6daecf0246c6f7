// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IPriceOracle} from "../interfaces/IPriceOracle.sol";
import {ExactTransfer} from "../token/ExactTransfer.sol";
import {ILendingPool} from "./ILendingPool.sol";
import {IPToken} from "./IPToken.sol";
import {PoolStorage} from "./PoolStorage.sol";
import {AssetParameters, BANDS, Reserve, ReserveState} from "./PoolTypes.sol";
import {Ray} from "./Ray.sol";

/// @title PoolAdmin
/// @notice The functions of the pool's owner: add assets, set parameters and caps, pause operations, collect income.
abstract contract PoolAdmin is PoolStorage, Ownable2Step, ReentrancyGuardTransient {
    /// @dev The number that one account can hold and still be liquidated within the gas of one transaction.
    uint256 private constant MAX_ASSETS = 64;
    uint256 private constant BPS = 10_000;

    /// @inheritdoc ILendingPool
    uint256 public leastLoanUsd;

    constructor(address owner_, IPriceOracle oracle_) Ownable(owner_) {
        _oracle = oracle_;
        emit OracleChanged(address(0), address(oracle_));
    }

    /// @notice Adds an asset that can be supplied and borrowed.
    /// @param asset The asset, with at most 18 decimals.
    /// @param pToken Its receipt token, which names this pool and the asset.
    /// @param parameters Its rates and ratios.
    /// @param supplyCapTokens The maximum supply in whole tokens; 0 for no limit.
    /// @param borrowCapTokens The maximum debt in whole tokens; 0 for no limit.
    function addAsset(
        address asset,
        address pToken,
        AssetParameters calldata parameters,
        uint128 supplyCapTokens,
        uint128 borrowCapTokens
    ) external onlyOwner {
        if (asset.code.length == 0) revert NotAContract(asset);
        if (pToken.code.length == 0) revert NotAContract(pToken);
        Reserve storage reserve = _reserves[asset];
        if (reserve.pToken != address(0)) revert AlreadyAdded(asset);
        if (IPToken(pToken).pool() != address(this) || IPToken(pToken).asset() != asset) revert WrongPToken(pToken);
        uint8 decimals = IERC20Metadata(asset).decimals();
        if (decimals > 18) revert UnsupportedDecimals(decimals);
        uint256 id = _assets.length;
        if (id == MAX_ASSETS) revert TooManyAssets();

        _assets.push(asset);
        (reserve.pToken, reserve.id, reserve.decimals) = (pToken, uint8(id), decimals);
        emit AssetAdded(asset, pToken, id, decimals);
        _setParameters(asset, reserve, parameters);
        _setCaps(asset, reserve, supplyCapTokens, borrowCapTokens);
        ReserveState memory state;
        state.liquidityIndex = Ray.ONE;
        for (uint256 band = 0; band < BANDS; ++band) {
            state.borrowIndexes[band] = Ray.ONE;
        }
        _storeState(asset, state);
    }

    /// @notice Changes an asset's rates and ratios. Interest up to now accrues at the old rates.
    /// @param asset The asset.
    /// @param parameters Its new parameters.
    function setParameters(address asset, AssetParameters calldata parameters) external onlyOwner {
        Reserve storage reserve = _listed(asset);
        _storeState(asset, _load(reserve));
        _setParameters(asset, reserve, parameters);
    }

    /// @notice Changes an asset's caps.
    /// @param asset The asset.
    /// @param supplyCapTokens The maximum supply in whole tokens; 0 for no limit.
    /// @param borrowCapTokens The maximum debt in whole tokens; 0 for no limit.
    function setCaps(address asset, uint128 supplyCapTokens, uint128 borrowCapTokens) external onlyOwner {
        _setCaps(asset, _listed(asset), supplyCapTokens, borrowCapTokens);
    }

    /// @notice Changes the least loan. It concerns new loans only.
    /// @param usd The least value of a debt in US dollars times 10^8; 0 for no limit.
    function setLeastLoan(uint256 usd) external onlyOwner {
        emit LeastLoanChanged(leastLoanUsd, usd);
        leastLoanUsd = usd;
    }

    /// @notice Pauses or resumes operations on an asset. Repayment is always possible.
    /// @param asset The asset.
    /// @param paused Whether operations are paused.
    function setPaused(address asset, bool paused) external onlyOwner {
        _listed(asset).paused = paused;
        emit PausedChanged(asset, paused);
    }

    /// @notice Replaces the price oracle.
    /// @param newOracle The new oracle.
    function setOracle(IPriceOracle newOracle) external onlyOwner {
        if (address(newOracle).code.length == 0) revert NotAContract(address(newOracle));
        emit OracleChanged(address(_oracle), address(newOracle));
        _oracle = newOracle;
    }

    /// @notice Collects the treasury's income.
    /// @param asset The asset.
    /// @param amount The amount; a larger one than available means all of it.
    /// @param to The account that receives it.
    function collectTreasury(address asset, uint256 amount, address to) external onlyOwner nonReentrant {
        ReserveState memory state = _load(_listed(asset));
        uint256 paid = Math.min(amount, state.treasury);
        if (paid == 0) revert ZeroAmount();
        if (paid > state.cash) revert InsufficientLiquidity(paid, state.cash);
        state.treasury -= paid;
        state.cash -= paid;
        emit TreasuryCollected(asset, to, paid);
        _storeState(asset, state);
        ExactTransfer.push(asset, to, paid);
    }

    function _listed(address asset) internal view returns (Reserve storage reserve) {
        reserve = _reserves[asset];
        if (reserve.pToken == address(0)) revert UnsupportedAsset(asset);
    }

    function _setParameters(address asset, Reserve storage reserve, AssetParameters calldata parameters) private {
        if (!_areValid(parameters)) revert InvalidParameters();
        reserve.parameters = parameters;
        emit ParametersChanged(asset, parameters);
    }

    function _setCaps(address asset, Reserve storage reserve, uint128 supplyCapTokens, uint128 borrowCapTokens) private {
        (reserve.supplyCapTokens, reserve.borrowCapTokens) = (supplyCapTokens, borrowCapTokens);
        emit CapsChanged(asset, supplyCapTokens, borrowCapTokens);
    }

    /// @dev The threshold lies above the largest loan, so that nobody can be liquidated right after borrowing; and at the
    /// threshold the collateral still pays for the debt and the bonus, so that a timely liquidation leaves no bad debt.
    function _areValid(AssetParameters calldata p) private pure returns (bool) {
        return p.kinkBps != 0 && p.kinkBps <= BPS && p.reserveFactorBps <= BPS && p.minLtvBps <= p.maxLtvBps
            && p.maxLtvBps < p.liquidationThresholdBps
            && uint256(p.liquidationThresholdBps) * (BPS + p.liquidationBonusBps) <= BPS * BPS;
    }
}
