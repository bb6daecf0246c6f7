// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title ExactTransfer
/// @notice Token transfers that verify the received amount. Balances are accounted for by the requested amount, so a token
/// that charges a fee, or does not move at all, would leave the contract insolvent.
library ExactTransfer {
    using SafeERC20 for IERC20;

    /// @notice The balance did not increase by the requested amount.
    error TransferMismatch(uint256 expected, uint256 received);

    /// @notice Takes exactly `amount` of `token` from the caller of the current call.
    /// @param token The token, which need not return a bool.
    /// @param amount The amount, in the smallest unit.
    function pull(address token, uint256 amount) internal {
        uint256 held = IERC20(token).balanceOf(address(this));
        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
        uint256 holds = IERC20(token).balanceOf(address(this));
        uint256 received = holds > held ? holds - held : 0;
        if (received != amount) revert TransferMismatch(amount, received);
    }

    /// @notice Sends `amount` of `token` to `to`.
    /// @param token The token, which need not return a bool.
    /// @param to The account that receives it.
    /// @param amount The amount, in the smallest unit.
    function push(address token, address to, uint256 amount) internal {
        IERC20(token).safeTransfer(to, amount);
    }
}
