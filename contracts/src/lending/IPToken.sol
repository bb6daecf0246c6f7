// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title IPToken
/// @notice The pool's interface to a receipt token.
interface IPToken {
    /// @notice The pool that stores the balances.
    function pool() external view returns (address);

    /// @notice The asset that was supplied.
    function asset() external view returns (address);

    /// @notice Reports a change of balances that the pool made.
    /// @param from The sender, or zero for a deposit.
    /// @param to The recipient, or zero for a withdrawal.
    /// @param amount The amount, in units of the asset.
    function recordTransfer(address from, address to, uint256 amount) external;
}
