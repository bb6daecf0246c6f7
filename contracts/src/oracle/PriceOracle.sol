// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IPriceOracle} from "../interfaces/IPriceOracle.sol";

/// @title PriceOracle
/// @notice Prices in US dollars times 10^8 per whole token, pushed by one updater within the owner's limits.
contract PriceOracle is IPriceOracle, Ownable2Step {
    /// @dev One slot per token, so that a batch of twelve prices writes only twelve slots.
    struct Feed {
        uint64 price;
        uint40 updatedAt;
    }

    /// @notice The exclusive upper limit of a price, which keeps the product of amount, price and decimals within 256 bits.
    uint256 public constant PRICE_LIMIT = 2 ** 63;

    uint256 private constant BPS_DENOMINATOR = 10_000;

    /// @notice The account that may push prices.
    address public updater;

    /// @notice The maximum deviation of a single update, in basis points of the current price.
    uint16 public maxMoveBps = 2_500;

    /// @notice The age in seconds beyond which a price is stale.
    uint40 public maxAge = 600;

    address[] private _tokens;
    mapping(address token => Feed) private _feeds;

    /// @notice A token has a new price.
    event PriceUpdated(address indexed token, uint256 price, uint256 timestamp);
    /// @notice A proposed price was skipped: zero, too large, or too far from the current one.
    event PriceRejected(address indexed token, uint256 current, uint256 proposed);
    /// @notice The updater was replaced.
    event UpdaterChanged(address indexed previousUpdater, address indexed newUpdater);
    /// @notice The maximum deviation of a single update has changed.
    event MaxMoveChanged(uint256 previousBps, uint256 newBps);
    /// @notice The age beyond which a price is stale has changed.
    event MaxAgeChanged(uint256 previousSeconds, uint256 newSeconds);

    /// @notice The caller is not the updater.
    error NotUpdater(address caller);
    /// @notice The two lists of a batch differ in length.
    error LengthMismatch(uint256 tokens, uint256 prices);
    /// @notice The owner set a price that is zero or too large.
    error InvalidPrice(uint256 price);
    /// @notice A maximum deviation of zero would freeze every price.
    error InvalidMaxMove();
    /// @notice A maximum age of zero would make every price stale.
    error InvalidMaxAge();

    /// @param owner_ The account that sets the limits and may override a price.
    /// @param updater_ The account that pushes prices.
    constructor(address owner_, address updater_) Ownable(owner_) {
        updater = updater_;
        emit UpdaterChanged(address(0), updater_);
    }

    /// @notice Pushes a batch of prices. An invalid price is skipped with an event instead of rejecting the whole batch: one
    /// broken feed must not stop the others.
    /// @param tokens The tokens.
    /// @param prices Their prices, in the same order.
    function updatePrices(address[] calldata tokens, uint256[] calldata prices) external {
        if (msg.sender != updater) revert NotUpdater(msg.sender);
        if (tokens.length != prices.length) revert LengthMismatch(tokens.length, prices.length);
        uint256 moveBps = maxMoveBps;
        for (uint256 i = 0; i < tokens.length; ++i) {
            uint256 current = _feeds[tokens[i]].price;
            if (_isAcceptable(current, prices[i], moveBps)) _record(tokens[i], current, prices[i]);
            else emit PriceRejected(tokens[i], current, prices[i]);
        }
    }

    /// @notice Sets a price without the deviation limit, for real market moves that exceed it.
    /// @param token The token.
    /// @param price Its price.
    function setPrice(address token, uint256 price) external onlyOwner {
        if (!_isValid(price)) revert InvalidPrice(price);
        _record(token, _feeds[token].price, price);
    }

    /// @notice Replaces the updater.
    /// @param newUpdater The new updater; the zero address disables updates.
    function setUpdater(address newUpdater) external onlyOwner {
        emit UpdaterChanged(updater, newUpdater);
        updater = newUpdater;
    }

    /// @notice Sets the maximum deviation of a single update.
    /// @param newBps Basis points of the current price.
    function setMaxMoveBps(uint16 newBps) external onlyOwner {
        if (newBps == 0) revert InvalidMaxMove();
        emit MaxMoveChanged(maxMoveBps, newBps);
        maxMoveBps = newBps;
    }

    /// @notice Sets the age beyond which a price is stale.
    /// @param newSeconds Seconds.
    function setMaxAge(uint40 newSeconds) external onlyOwner {
        if (newSeconds == 0) revert InvalidMaxAge();
        emit MaxAgeChanged(maxAge, newSeconds);
        maxAge = newSeconds;
    }

    /// @inheritdoc IPriceOracle
    function readPrice(address token) external view returns (uint256 price, bool fresh) {
        Feed memory feed = _feeds[token];
        return (feed.price, feed.price != 0 && block.timestamp - feed.updatedAt <= maxAge);
    }

    /// @notice The last price of a token.
    /// @param token The token.
    /// @return price The price; 0 if there never was one.
    /// @return updatedAt When it was set, in Unix seconds.
    function getPrice(address token) external view returns (uint256 price, uint256 updatedAt) {
        Feed memory feed = _feeds[token];
        return (feed.price, feed.updatedAt);
    }

    /// @notice The last prices of several tokens.
    /// @param tokens The tokens.
    /// @return prices Their prices, in the same order; 0 where there never was one.
    /// @return updatedAts When they were set, in Unix seconds.
    function getPrices(address[] calldata tokens)
        external
        view
        returns (uint256[] memory prices, uint256[] memory updatedAts)
    {
        prices = new uint256[](tokens.length);
        updatedAts = new uint256[](tokens.length);
        for (uint256 i = 0; i < tokens.length; ++i) {
            Feed memory feed = _feeds[tokens[i]];
            (prices[i], updatedAts[i]) = (feed.price, feed.updatedAt);
        }
    }

    /// @notice All tokens that ever had a price, in the order of their first one.
    /// @return The tokens.
    function getTokens() external view returns (address[] memory) {
        return _tokens;
    }

    function _record(address token, uint256 current, uint256 price) private {
        if (current == 0) _tokens.push(token);
        _feeds[token] = Feed(uint64(price), uint40(block.timestamp));
        emit PriceUpdated(token, price, block.timestamp);
    }

    function _isAcceptable(uint256 current, uint256 proposed, uint256 moveBps) private pure returns (bool) {
        if (!_isValid(proposed)) return false;
        if (current == 0) return true;
        uint256 move = proposed > current ? proposed - current : current - proposed;
        return move * BPS_DENOMINATOR <= current * moveBps;
    }

    function _isValid(uint256 price) private pure returns (bool) {
        return price != 0 && price < PRICE_LIMIT;
    }
}
