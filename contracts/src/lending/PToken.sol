// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {ILendingPool} from "./ILendingPool.sol";
import {IPToken} from "./IPToken.sol";

/// @title PToken
/// @notice The receipt token of one supplied asset. A balance is the claim in units of the asset, and grows with interest.
/// The pool stores the balances, where its health checks read them cheaply; this contract is their ERC-20 interface and
/// stores allowances only.
contract PToken is ERC20Permit, IPToken {
    ILendingPool private immutable _pool;

    /// @inheritdoc IPToken
    address public immutable asset;

    uint8 private immutable _decimals;

    /// @notice Only the pool may do this.
    error NotPool(address caller);

    /// @param pool_ The pool that stores the balances.
    /// @param asset_ The supplied asset, from which name, symbol and decimals are derived.
    constructor(ILendingPool pool_, IERC20Metadata asset_)
        ERC20(string.concat("Pool ", asset_.name()), string.concat("p", asset_.symbol()))
        ERC20Permit(string.concat("Pool ", asset_.name()))
    {
        _pool = pool_;
        asset = address(asset_);
        _decimals = asset_.decimals();
    }

    /// @inheritdoc IPToken
    function recordTransfer(address from, address to, uint256 amount) external {
        if (msg.sender != address(_pool)) revert NotPool(msg.sender);
        emit Transfer(from, to, amount);
    }

    /// @inheritdoc IPToken
    function pool() external view returns (address) {
        return address(_pool);
    }

    /// @inheritdoc ERC20
    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    /// @notice The total supply, with interest up to now.
    function totalSupply() public view override returns (uint256) {
        return _pool.totalSupplied(asset);
    }

    /// @notice The claim of `account`, with interest up to now.
    function balanceOf(address account) public view override returns (uint256) {
        return _pool.suppliedBy(asset, account);
    }

    /// @dev Called for transfers only: the pool mints and burns.
    function _update(address from, address to, uint256 amount) internal override {
        _pool.transferSupply(asset, from, to, amount);
        emit Transfer(from, to, amount);
    }
}
