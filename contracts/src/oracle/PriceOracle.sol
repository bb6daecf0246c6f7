// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IPriceOracle} from "../interfaces/IPriceOracle.sol";

/// @notice The reason for which a token is halted.
enum Halt {
    None,
    // Its price is behind its source: an update was rejected, or the updater is still on its way to the target.
    Behind,
    // The owner has halted it.
    Owner
}

/// @title PriceOracle
/// @notice Prices in US dollars times 10^8 per whole token, pushed by one updater within the owner's limits.
///
/// A token whose price is known to differ from its source's is halted, and swaps refuse it: whoever knows the source could
/// otherwise trade at a price that is about to change. Halting is part of an update, so no transaction comes between the two.
/// A rejected update halts the token. An update with a target halts it while its price is more than 1 % away from the target.
/// The update that arrives within 1 % of the target resumes it, and so does a price that the owner sets. A halt by the owner
/// lasts until the owner resumes the token, whatever the updates say.
contract PriceOracle is IPriceOracle, Ownable2Step {
    /// @dev One slot per token, so that a batch of twelve prices writes only twelve slots.
    struct Feed {
        uint64 price;
        uint40 updatedAt;
        Halt halt;
        uint64 target;
    }

    /// @notice The exclusive upper limit of a price, which keeps the product of amount, price and decimals within 256 bits.
    uint256 public constant PRICE_LIMIT = 2 ** 63;

    uint256 private constant BPS_DENOMINATOR = 10_000;

    /// @dev The distance from its target at which a price has arrived, in basis points of the target.
    uint256 private constant ARRIVAL_BPS = 100;

    /// @notice The account that may push prices.
    address public updater;

    /// @notice The maximum deviation of a single update, in basis points of the current price. A move by one unit is accepted
    /// in any case, so that a price of a few units is not stuck.
    uint16 public maxMoveBps = 2_500;

    /// @notice The age in seconds beyond which a price is stale.
    uint40 public maxAge = 600;

    address[] private _tokens;
    mapping(address token => Feed) private _feeds;

    /// @notice A token has a new price.
    event PriceUpdated(address indexed token, uint256 price, uint256 timestamp);
    /// @notice A proposed price was skipped: zero, too large, or too far from the current one.
    event PriceRejected(address indexed token, uint256 current, uint256 proposed);
    /// @notice A token was halted at `price`; its source's price is `target`.
    event TokenHalted(address indexed token, uint256 price, uint256 target);
    /// @notice A token was resumed.
    event TokenResumed(address indexed token, uint256 price);
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
    /// @notice The token is not halted.
    error NotHalted(address token);
    /// @notice A maximum deviation of zero would freeze every price.
    error InvalidMaxMove();
    /// @notice A maximum age of zero would make every price stale.
    error InvalidMaxAge();

    modifier onlyUpdater() {
        if (msg.sender != updater) revert NotUpdater(msg.sender);
        _;
    }

    /// @param owner_ The account that sets the limits and may override a price.
    /// @param updater_ The account that pushes prices.
    constructor(address owner_, address updater_) Ownable(owner_) {
        updater = updater_;
        emit UpdaterChanged(address(0), updater_);
    }

    /// @notice Pushes a batch of prices. An invalid price is skipped with an event instead of rejecting the whole batch: one
    /// broken feed must not stop the others. Its token is halted until a price arrives within 1 % of the rejected one, or
    /// until two consecutive prices differ by at most 1 %, as those of an updater do that is not walking.
    /// @param tokens The tokens.
    /// @param prices Their prices, in the same order.
    function updatePrices(address[] calldata tokens, uint256[] calldata prices) external onlyUpdater {
        if (tokens.length != prices.length) revert LengthMismatch(tokens.length, prices.length);
        uint256 moveBps = maxMoveBps;
        for (uint256 i = 0; i < tokens.length; ++i) {
            Feed memory feed = _feeds[tokens[i]];
            uint256 target = prices[i];
            // The next step of an updater that walks toward a rejected price must not resume the token.
            bool isStep = feed.halt == Halt.Behind && _isAcceptable(feed.price, prices[i], moveBps)
                && !_isNear(prices[i], feed.price);
            _push(tokens[i], feed, prices[i], isStep ? feed.target : target, moveBps);
        }
    }

    /// @notice Pushes a batch of prices that may not be their source's yet, because a single update cannot move so far. A
    /// token is halted while its price is more than 1 % away from its target.
    /// @param tokens The tokens.
    /// @param prices Their prices, in the same order.
    /// @param targets The source's prices, in the same order.
    function updatePricesToward(address[] calldata tokens, uint256[] calldata prices, uint256[] calldata targets)
        external
        onlyUpdater
    {
        if (tokens.length != prices.length) revert LengthMismatch(tokens.length, prices.length);
        if (tokens.length != targets.length) revert LengthMismatch(tokens.length, targets.length);
        uint256 moveBps = maxMoveBps;
        for (uint256 i = 0; i < tokens.length; ++i) {
            _push(tokens[i], _feeds[tokens[i]], prices[i], targets[i], moveBps);
        }
    }

    /// @notice Sets a price without the deviation limit, for real market moves that exceed it. Resumes the token, unless the
    /// owner halted it.
    /// @param token The token.
    /// @param price Its price.
    function setPrice(address token, uint256 price) external onlyOwner {
        if (!_isValid(price)) revert InvalidPrice(price);
        Feed memory feed = _feeds[token];
        _record(token, feed, price);
        if (feed.halt == Halt.Behind) _resume(token, feed);
        _feeds[token] = feed;
    }

    /// @notice Halts a token until {resume}.
    /// @param token The token.
    /// @param target The price that it is expected to have afterwards, for observers; 0 if unknown.
    function halt(address token, uint256 target) external onlyOwner {
        if (target >= PRICE_LIMIT) revert InvalidPrice(target);
        Feed memory feed = _feeds[token];
        (feed.halt, feed.target) = (Halt.Owner, uint64(target));
        _feeds[token] = feed;
        emit TokenHalted(token, feed.price, target);
    }

    /// @notice Resumes a token, whoever halted it. If its price is still behind its source, the next update halts it again.
    /// @param token The token.
    function resume(address token) external onlyOwner {
        Feed memory feed = _feeds[token];
        if (feed.halt == Halt.None) revert NotHalted(token);
        _resume(token, feed);
        _feeds[token] = feed;
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
    function readPrice(address token) external view returns (uint256 price, bool fresh, bool isHalted) {
        Feed memory feed = _feeds[token];
        fresh = feed.price != 0 && block.timestamp - feed.updatedAt <= maxAge;
        return (feed.price, fresh, feed.halt != Halt.None);
    }

    /// @inheritdoc IPriceOracle
    function halted(address token) external view returns (bool) {
        return _feeds[token].halt != Halt.None;
    }

    /// @notice The halts of several tokens.
    /// @param tokens The tokens.
    /// @return halts The reasons for which they are halted, in the same order.
    /// @return targets The targets of their prices; 0 for a token that is not halted, or whose target is unknown.
    function getHalts(address[] calldata tokens)
        external
        view
        returns (Halt[] memory halts, uint256[] memory targets)
    {
        halts = new Halt[](tokens.length);
        targets = new uint256[](tokens.length);
        for (uint256 i = 0; i < tokens.length; ++i) {
            Feed memory feed = _feeds[tokens[i]];
            (halts[i], targets[i]) = (feed.halt, feed.target);
        }
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

    /// @dev Applies an update of one token, and halts or resumes it.
    function _push(address token, Feed memory feed, uint256 price, uint256 target, uint256 moveBps) private {
        bool accepted = _isAcceptable(feed.price, price, moveBps);
        if (accepted) _record(token, feed, price);
        else emit PriceRejected(token, feed.price, price);
        // A token without a price is not tradable, and an owner's halt is the owner's to end.
        if (feed.price != 0 && feed.halt != Halt.Owner) {
            if (!accepted || !_isNear(feed.price, target)) _fallBehind(token, feed, target);
            else if (feed.halt == Halt.Behind) _resume(token, feed);
        }
        _feeds[token] = feed;
    }

    function _record(address token, Feed memory feed, uint256 price) private {
        if (feed.price == 0) _tokens.push(token);
        (feed.price, feed.updatedAt) = (uint64(price), uint40(block.timestamp));
        emit PriceUpdated(token, price, block.timestamp);
    }

    function _fallBehind(address token, Feed memory feed, uint256 target) private {
        if (feed.halt == Halt.None) emit TokenHalted(token, feed.price, target);
        // No price arrives at an invalid target. The token is then resumed near the price that it has.
        (feed.halt, feed.target) = (Halt.Behind, _isValid(target) ? uint64(target) : feed.price);
    }

    function _resume(address token, Feed memory feed) private {
        (feed.halt, feed.target) = (Halt.None, 0);
        emit TokenResumed(token, feed.price);
    }

    function _isNear(uint256 price, uint256 target) private pure returns (bool) {
        return _isValid(target) && _distance(price, target) * BPS_DENOMINATOR <= target * ARRIVAL_BPS;
    }

    function _distance(uint256 a, uint256 b) private pure returns (uint256) {
        return a > b ? a - b : b - a;
    }

    function _isAcceptable(uint256 current, uint256 proposed, uint256 moveBps) private pure returns (bool) {
        if (!_isValid(proposed)) return false;
        if (current == 0) return true;
        uint256 distance = _distance(current, proposed);
        return distance <= 1 || distance * BPS_DENOMINATOR <= current * moveBps;
    }

    function _isValid(uint256 price) private pure returns (bool) {
        return price != 0 && price < PRICE_LIMIT;
    }
}
