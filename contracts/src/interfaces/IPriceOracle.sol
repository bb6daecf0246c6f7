// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title IPriceOracle
/// @notice The price source of the exchange and the lending pool.
interface IPriceOracle {
    /// @notice The last price of a token, and whether it can be relied on.
    /// @param token The token.
    /// @return price US dollars times 10^8 per whole token, below 2^63; 0 if there never was a price.
    /// @return fresh False if there is no price or it is older than the oracle allows.
    /// @return halted True if the price is known to be behind its source, or the owner halted the token.
    function readPrice(address token) external view returns (uint256 price, bool fresh, bool halted);

    /// @notice Whether a token is halted.
    /// @param token The token.
    function halted(address token) external view returns (bool);
}
