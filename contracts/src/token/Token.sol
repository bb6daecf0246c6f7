// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

/// @title Token
/// @notice An ERC-20 with EIP-2612 permits whose supply the treasury can extend at will, as a test network needs.
contract Token is ERC20Permit, Ownable2Step {
    uint8 private immutable _decimals;

    /// @param name_ The token's name, which is also its EIP-712 signing domain.
    /// @param symbol_ The token's symbol.
    /// @param decimals_ The number of decimals.
    /// @param owner_ The account that may mint.
    constructor(string memory name_, string memory symbol_, uint8 decimals_, address owner_)
        ERC20(name_, symbol_)
        ERC20Permit(name_)
        Ownable(owner_)
    {
        _decimals = decimals_;
    }

    /// @notice Creates `amount` new tokens for `to`.
    /// @param to The account that receives them.
    /// @param amount The amount, in the smallest unit.
    function mint(address to, uint256 amount) external onlyOwner {
        _mint(to, amount);
    }

    /// @inheritdoc ERC20
    function decimals() public view override returns (uint8) {
        return _decimals;
    }
}
