// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title ExactTransfer
/// @notice Takes tokens in and insists on what arrived. The books are written from the amount that was asked for, so a
/// token that keeps a fee, or only claims to have moved, would leave them promising more than there is.
library ExactTransfer {
    using SafeERC20 for IERC20;

    /// @notice The balance did not rise by the amount asked for.
    error TransferMismatch(uint256 expected, uint256 received);

    /// @notice Takes exactly `amount` of `token` from the caller of the current call.
    /// @param token The token; one that returns no bool is fine.
    /// @param amount How much, in the smallest unit.
    function pull(address token, uint256 amount) internal {
        uint256 held = IERC20(token).balanceOf(address(this));
        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
        uint256 holds = IERC20(token).balanceOf(address(this));
        uint256 received = holds > held ? holds - held : 0;
        if (received != amount) revert TransferMismatch(amount, received);
    }

    /// @notice Sends `amount` of `token` to `to`.
    /// @param token The token; one that returns no bool is fine.
    /// @param to The account that receives it.
    /// @param amount How much, in the smallest unit.
    function push(address token, address to, uint256 amount) internal {
        IERC20(token).safeTransfer(to, amount);
    }
}
