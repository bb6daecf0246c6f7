// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity >=0.8.20;

/// @dev The address of the {IBech32} precompile.
address constant BECH32_PRECOMPILE = 0x0000000000000000000000000000000000000400;

/// @title IBech32
/// @notice The precompile that converts addresses between hex and bech32, as in the Cosmos EVM modules.
interface IBech32 {
    /// @notice Writes an address in bech32.
    /// @param addr The address.
    /// @param prefix The human-readable prefix, without the separator.
    /// @return bech32Address The address in bech32.
    function hexToBech32(address addr, string memory prefix) external returns (string memory bech32Address);

    /// @notice Reads an address written in bech32.
    /// @param bech32Address The address in bech32, with any prefix.
    /// @return addr The same 20 bytes.
    function bech32ToHex(string memory bech32Address) external returns (address addr);
}
