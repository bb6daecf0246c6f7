// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {IPriceOracle} from "../interfaces/IPriceOracle.sol";
import {ExactTransfer} from "../token/ExactTransfer.sol";
import {CreditHistory} from "./CreditHistory.sol";
import {ILendingPool, ReserveView} from "./ILendingPool.sol";
import {Interest} from "./Interest.sol";
import {IPToken} from "./IPToken.sol";
import {Ledger} from "./Ledger.sol";
import {PoolAdmin} from "./PoolAdmin.sol";
import {PoolLiquidation} from "./PoolLiquidation.sol";
import {Account, Holding, Position, Reserve, ReserveState} from "./PoolTypes.sol";
import {Portfolio} from "./Portfolio.sol";
import {Ray} from "./Ray.sol";

/// @title LendingPool
/// @notice One pool for all assets. What a user supplies earns interest and counts as collateral; how much may be borrowed
/// against it, and at what rate, follows the user's credit score.
contract LendingPool is PoolLiquidation {
    using Interest for ReserveState;
    using Ledger for Holding;
    using Portfolio for Account;
    using Portfolio for Holding;

    /// @dev A claim is a whole number of index units. With little supply and high utilisation the index can grow until a unit
    /// has a significant value, so a deposit reverts if more than dust, and more than a ten-thousandth of it, would be lost.
    uint256 private constant MAX_LOSS = 100;
    uint256 private constant MAX_LOSS_SHARE = 10_000;

    /// @param owner_ The account that sets the parameters and collects the treasury's income.
    /// @param oracle_ The price oracle.
    constructor(address owner_, IPriceOracle oracle_) PoolAdmin(owner_, oracle_) {}

    /// @inheritdoc ILendingPool
    function deposit(address asset, uint256 amount) external nonReentrant {
        Reserve storage reserve = _usable(asset, amount);
        (Account memory account,) = _openFor(msg.sender, asset);
        Holding memory holding = account.find(asset);
        uint256 lost = holding.mintSupply(amount);
        if (lost == amount || (lost > MAX_LOSS && lost > amount / MAX_LOSS_SHARE)) revert AmountTooSmall();
        if (account.credit.refused & _bit(asset) == 0) holding.collateral = true;
        uint256 supplied = holding.state.totalSupplied();
        uint256 cap = reserve.supplyCapTokens * holding.unit;
        if (cap != 0 && supplied > cap) revert SupplyCapExceeded(supplied, cap);

        emit Deposit(asset, msg.sender, amount);
        _close(account);
        ExactTransfer.pull(asset, amount);
        IPToken(reserve.pToken).recordTransfer(address(0), msg.sender, amount);
    }

    /// @inheritdoc ILendingPool
    function withdraw(address asset, uint256 amount) external nonReentrant {
        Reserve storage reserve = _usable(asset, amount);
        (Account memory account, uint256 score) = _openFor(msg.sender, asset);
        Holding memory holding = account.find(asset);
        uint256 paid = Math.min(amount, holding.supplied());
        if (paid == 0) revert NothingSupplied(asset, msg.sender);
        if (paid > holding.state.cash) revert InsufficientLiquidity(paid, holding.state.cash);
        holding.burnSupply(paid);
        if (account.owes()) _requireCovered(account, score, asset);

        emit Withdraw(asset, msg.sender, paid);
        _close(account);
        IPToken(reserve.pToken).recordTransfer(msg.sender, address(0), paid);
        ExactTransfer.push(asset, msg.sender, paid);
    }

    /// @inheritdoc ILendingPool
    function borrow(address asset, uint256 amount) external nonReentrant {
        Reserve storage reserve = _usable(asset, amount);
        (Account memory account, uint256 score) = _openFor(msg.sender, asset);
        Holding memory holding = account.find(asset);
        if (amount > holding.state.cash) revert InsufficientLiquidity(amount, holding.state.cash);
        holding.mintDebt(account.credit.band, amount);
        uint256 borrowed = holding.state.totalDebt();
        uint256 cap = reserve.borrowCapTokens * holding.unit;
        if (cap != 0 && borrowed > cap) revert BorrowCapExceeded(borrowed, cap);
        _requireCovered(account, score, asset);
        uint256 debtUsd = holding.debtUsd(account.credit.band);
        if (debtUsd < leastLoanUsd) revert LoanTooSmall(debtUsd, leastLoanUsd);
        CreditHistory.recordLoan(account.credit, block.timestamp);

        emit Borrow(asset, msg.sender, amount);
        _close(account);
        ExactTransfer.push(asset, msg.sender, amount);
    }

    /// @inheritdoc ILendingPool
    function repay(address asset, uint256 amount) external nonReentrant {
        if (amount == 0) revert ZeroAmount();
        _listed(asset);
        (Account memory account,) = _openFor(msg.sender, asset);
        Holding memory holding = account.find(asset);
        uint256 paid = Math.min(amount, holding.debt(account.credit.band));
        if (paid == 0) revert NothingOwed(asset, msg.sender);
        CreditHistory.recordPayment(
            account.credit, (paid * holding.price) / holding.unit, account.value().debtUsd, block.timestamp
        );
        holding.burnDebt(account.credit.band, paid);

        emit Repay(asset, msg.sender, paid);
        _close(account);
        ExactTransfer.pull(asset, paid);
    }

    /// @inheritdoc ILendingPool
    function setCollateral(address asset, bool enabled) external nonReentrant {
        _listed(asset);
        (Account memory account, uint256 score) = _openFor(msg.sender, asset);
        Holding memory holding = account.find(asset);
        (holding.collateral, holding.changed) = (enabled, true);
        uint256 refused = account.credit.refused;
        account.credit.refused = uint64(enabled ? refused & ~_bit(asset) : refused | _bit(asset));
        if (!enabled && account.owes()) _requireCovered(account, score, asset);

        emit CollateralSet(asset, msg.sender, enabled);
        _close(account);
    }

    /// @inheritdoc ILendingPool
    function refresh(address user) external nonReentrant {
        _update(user, address(0), 0);
    }

    /// @inheritdoc ILendingPool
    function transferSupply(address asset, address from, address to, uint256 amount) external nonReentrant {
        Reserve storage reserve = _listed(asset);
        if (msg.sender != reserve.pToken) revert NotPToken(msg.sender);
        // ERC-20 requires a transfer of zero to succeed; it needs no checks and moves nothing.
        if (amount == 0) return;
        if (reserve.paused) revert AssetPaused(asset);

        (Account memory account, uint256 score) = _openFor(from, asset);
        Holding memory holding = account.find(asset);
        uint256 supplied = holding.supplied();
        if (amount > supplied) revert IERC20Errors.ERC20InsufficientBalance(from, supplied, amount);
        if (from == to) return;
        uint256 scaled = holding.takeSupply(amount);
        if (account.owes()) _requireCovered(account, score, asset);

        emit SupplyTransferred(asset, from, to, amount, scaled);
        _close(account);
        _receive(to, asset, scaled);
    }

    /// @inheritdoc ILendingPool
    function oracle() external view returns (IPriceOracle) {
        return _oracle;
    }

    /// @inheritdoc ILendingPool
    function getAssets() external view returns (address[] memory) {
        return _assets;
    }

    /// @inheritdoc ILendingPool
    function getReserve(address asset) external view returns (ReserveView memory) {
        Reserve storage reserve = _listed(asset);
        return ReserveView({
            asset: asset,
            pToken: reserve.pToken,
            decimals: reserve.decimals,
            paused: reserve.paused,
            supplyCapTokens: reserve.supplyCapTokens,
            borrowCapTokens: reserve.borrowCapTokens,
            parameters: reserve.parameters,
            state: _load(reserve)
        });
    }

    /// @inheritdoc ILendingPool
    function getAccount(address user) external view returns (Account memory account, uint256 score) {
        uint256 held = 0;
        for (uint256 id = 0; id < _assets.length; ++id) {
            Position memory position = _positions[user][id];
            if (position.scaledSupply != 0 || position.scaledDebt != 0) held |= 1 << id;
        }
        return _openWith(user, held);
    }

    /// @inheritdoc ILendingPool
    function totalSupplied(address asset) external view returns (uint256) {
        return _load(_listed(asset)).totalSupplied();
    }

    /// @inheritdoc ILendingPool
    function suppliedBy(address asset, address user) external view returns (uint256) {
        Reserve storage reserve = _listed(asset);
        uint256 scaled = _positions[user][reserve.id].scaledSupply;
        return Ray.mulDown(scaled, _load(reserve).liquidityIndex);
    }
}
