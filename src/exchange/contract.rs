//! The exchange's contracts as Rust sees them. The sources are in `contracts/`.

use alloy_sol_types::sol;

sol! {
    /// Prices in US dollars × 10^8 for a whole token.
    interface PriceOracle {
        event PriceUpdated(address indexed token, uint256 price, uint256 timestamp);
        event PriceRejected(address indexed token, uint256 current, uint256 proposed);
        function updatePrices(address[] calldata tokens, uint256[] calldata prices) external;
        function setPrice(address token, uint256 price) external;
        function getPrice(address token) external view returns (uint256 price, uint256 updatedAt);
        function getPrices(address[] calldata tokens) external view returns (uint256[] memory prices, uint256[] memory updatedAt);
        function maxAge() external view returns (uint40);
        function maxMoveBps() external view returns (uint16);
    }

    /// What executes swaps.
    interface Vault {
        function addToken(address token) external;
        function addLiquidity(address token, uint256 amount) external;
        function swapExactTokensForTokens(address tokenIn, address tokenOut, uint256 amountIn, uint256 minAmountOut) external;
        function reserves(address token) external view returns (uint256);
        function feesAccrued(address token) external view returns (uint256);
        function quoteSwap(address tokenIn, address tokenOut, uint256 amountIn) external view returns (uint256 amountOut, uint256 fee, uint256 impactBps, uint8 status);
    }
}
