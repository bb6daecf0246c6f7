// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title IPToken
/// @notice What the pool asks of a receipt token.
interface IPToken {
    /// @notice The pool that keeps the balances.
    function pool() external view returns (address);

    /// @notice The asset that was supplied.
    function asset() external view returns (address);

    /// @notice Reports a change of balances that the pool made.
    /// @param from The account that lost, zero for a deposit.
    /// @param to The account that gained, zero for a withdrawal.
    /// @param amount How much, in units of the asset.
    function recordTransfer(address from, address to, uint256 amount) external;
}
