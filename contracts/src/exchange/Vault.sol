// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IPriceOracle} from "../interfaces/IPriceOracle.sol";
import {ExactTransfer} from "../token/ExactTransfer.sol";
import {SwapMath} from "./SwapMath.sol";
import {VaultAdmin} from "./VaultAdmin.sol";
import {SwapQuote, SwapStatus, TokenState, VaultErrors} from "./VaultTypes.sol";

/// @title Vault
/// @notice Swaps tokens at the oracle's price out of reserves that the treasury provides. A swap is limited
/// by its share of the output reserve, not by a curve: small and large swaps have the same price.
contract Vault is VaultAdmin {
    using SafeCast for uint256;

    /// @notice A user swapped `amountIn` of one token for `amountOut` of another.
    event Swap(
        address indexed user,
        address indexed tokenIn,
        address indexed tokenOut,
        uint256 amountIn,
        uint256 amountOut
    );

    /// @notice The prices and the fee of the preceding {Swap} event. `amountOut + fee` left the output token's reserve.
    event SwapPriced(
        address indexed user,
        address indexed tokenIn,
        address indexed tokenOut,
        uint256 priceIn,
        uint256 priceOut,
        uint256 fee,
        uint256 impactBps
    );

    /// @param owner_ The account that provides liquidity and sets the limits.
    /// @param oracle_ The price oracle.
    constructor(address owner_, IPriceOracle oracle_) VaultAdmin(owner_, oracle_) {}

    /// @notice Swaps exactly `_amountIn`. The caller must have approved the vault for it.
    /// @param _tokenIn The token to pay with.
    /// @param _tokenOut The token to receive.
    /// @param _amountIn The amount to pay.
    /// @param _minAmountOut The minimum amount to receive.
    function swapExactTokensForTokens(address _tokenIn, address _tokenOut, uint256 _amountIn, uint256 _minAmountOut)
        external
        nonReentrant
    {
        SwapQuote memory quote = _quote(_tokenIn, _tokenOut, _amountIn, _minAmountOut);
        if (quote.status != SwapStatus.Ok) _refuse(quote, _minAmountOut);

        TokenState storage stateIn = _states[_tokenIn];
        TokenState storage stateOut = _states[_tokenOut];
        stateIn.reserve = (stateIn.reserve + _amountIn).toUint160();
        stateOut.reserve = (quote.reserveOut - quote.grossOut).toUint160();
        stateOut.feesAccrued += quote.fee;
        if (impactWindowBps != 0) {
            stateOut.windowLevel = uint40(quote.windowLevel);
            stateOut.windowUpdatedAt = uint40(block.timestamp);
        }
        emit Swap(msg.sender, _tokenIn, _tokenOut, _amountIn, quote.amountOut);
        emit SwapPriced(
            msg.sender, _tokenIn, _tokenOut, quote.priceIn, quote.priceOut, quote.fee, quote.impactBps
        );

        ExactTransfer.pull(_tokenIn, _amountIn);
        ExactTransfer.push(_tokenOut, msg.sender, quote.amountOut);
    }

    /// @notice The output of a swap, regardless of the vault's reserve of the output token.
    /// @param tokenIn The token to pay with.
    /// @param tokenOut The token to receive.
    /// @param amountIn The amount to pay.
    /// @return amountOut The amount that would be received.
    /// @return fee The fee, already deducted from `amountOut`.
    function getAmountOut(address tokenIn, address tokenOut, uint256 amountIn)
        external
        view
        returns (uint256 amountOut, uint256 fee)
    {
        SwapQuote memory quote;
        _price(quote, tokenIn, tokenOut, amountIn);
        if (quote.status != SwapStatus.Ok) _refuse(quote, 0);
        return (quote.amountOut, quote.fee);
    }

    /// @notice The outcome of a swap in this block. Reports as `status` what a swap would revert with.
    /// @param tokenIn The token to pay with.
    /// @param tokenOut The token to receive.
    /// @param amountIn The amount to pay.
    /// @return amountOut The amount that would be received.
    /// @return fee The fee, already deducted from `amountOut`.
    /// @return impactBps The share of the output reserve that the swap takes.
    /// @return status The reason for which the swap would revert, or that it would succeed.
    function quoteSwap(address tokenIn, address tokenOut, uint256 amountIn)
        external
        view
        returns (uint256 amountOut, uint256 fee, uint256 impactBps, SwapStatus status)
    {
        SwapQuote memory quote = _quote(tokenIn, tokenOut, amountIn, 0);
        return (quote.amountOut, quote.fee, quote.impactBps, quote.status);
    }

    /// @dev Shared by the quote and the swap, so that the two cannot disagree.
    function _quote(address tokenIn, address tokenOut, uint256 amountIn, uint256 minAmountOut)
        private
        view
        returns (SwapQuote memory quote)
    {
        if (paused) {
            quote.status = SwapStatus.Paused;
            return quote;
        }
        _price(quote, tokenIn, tokenOut, amountIn);
        if (quote.status != SwapStatus.Ok) return quote;

        TokenState storage state = _states[tokenOut];
        quote.reserveOut = state.reserve;
        quote.impactBps = SwapMath.share(quote.grossOut, quote.reserveOut, SwapMath.BPS_DENOMINATOR);
        if (quote.amountOut == 0) quote.status = SwapStatus.ZeroOutput;
        else if (quote.amountOut < minAmountOut) quote.status = SwapStatus.InsufficientOutputAmount;
        else if (quote.grossOut > quote.reserveOut) quote.status = SwapStatus.InsufficientLiquidity;
        else if (quote.impactBps > MAX_PRICE_IMPACT_BPS) quote.status = SwapStatus.PriceImpactTooHigh;
        else if (impactWindowBps != 0) {
            quote.windowLevel = _windowLevel(state) + SwapMath.share(quote.grossOut, quote.reserveOut, SwapMath.WHOLE);
            if (quote.windowLevel > _allowance()) quote.status = SwapStatus.ImpactWindowExceeded;
        }
    }

    /// @dev The checks and the arithmetic that do not depend on a reserve.
    function _price(SwapQuote memory quote, address tokenIn, address tokenOut, uint256 amountIn) private view {
        TokenState storage stateIn = _states[tokenIn];
        TokenState storage stateOut = _states[tokenOut];
        if (tokenIn == tokenOut) {
            quote.status = SwapStatus.SameToken;
        } else if (!stateIn.supported || !stateOut.supported) {
            quote.status = SwapStatus.UnsupportedToken;
        } else if (amountIn == 0) {
            quote.status = SwapStatus.ZeroAmount;
        } else if (amountIn > type(uint128).max) {
            quote.status = SwapStatus.AmountTooLarge;
        } else {
            bool freshIn;
            bool freshOut;
            bool haltedIn;
            bool haltedOut;
            (quote.priceIn, freshIn, haltedIn) = oracle.readPrice(tokenIn);
            (quote.priceOut, freshOut, haltedOut) = oracle.readPrice(tokenOut);
            if (!freshIn || !freshOut) {
                quote.status = SwapStatus.StalePrice;
            } else if (haltedIn || haltedOut) {
                quote.status = SwapStatus.Halted;
                quote.halted = haltedIn ? tokenIn : tokenOut;
            } else {
                (quote.grossOut, quote.fee) = SwapMath.price(
                    amountIn, quote.priceIn, stateIn.decimals, quote.priceOut, stateOut.decimals
                );
                quote.amountOut = quote.grossOut - quote.fee;
            }
        }
    }

    function _refuse(SwapQuote memory quote, uint256 minAmountOut) private view {
        SwapStatus status = quote.status;
        if (status == SwapStatus.Paused) revert VaultErrors.Paused();
        if (status == SwapStatus.SameToken) revert VaultErrors.SameToken();
        if (status == SwapStatus.UnsupportedToken) revert VaultErrors.UnsupportedToken();
        if (status == SwapStatus.ZeroAmount) revert VaultErrors.ZeroAmount();
        if (status == SwapStatus.AmountTooLarge) revert VaultErrors.AmountTooLarge();
        if (status == SwapStatus.StalePrice) revert VaultErrors.StalePrice();
        if (status == SwapStatus.Halted) revert VaultErrors.TokenHalted(quote.halted);
        if (status == SwapStatus.ZeroOutput) revert VaultErrors.ZeroOutput();
        if (status == SwapStatus.InsufficientOutputAmount) {
            revert VaultErrors.InsufficientOutputAmount(quote.amountOut, minAmountOut);
        }
        if (status == SwapStatus.InsufficientLiquidity) {
            revert VaultErrors.InsufficientLiquidity(quote.grossOut, quote.reserveOut);
        }
        if (status == SwapStatus.PriceImpactTooHigh) {
            revert VaultErrors.PriceImpactTooHigh(quote.impactBps, MAX_PRICE_IMPACT_BPS);
        }
        revert VaultErrors.ImpactWindowExceeded(
            SwapMath.share(quote.windowLevel, SwapMath.WHOLE, SwapMath.BPS_DENOMINATOR), impactWindowBps
        );
    }
}
