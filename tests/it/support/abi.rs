//! The network's contracts as a client declares them, written from what is published.

use alloy::sol;

sol! {
    #[sol(rpc)]
    #[derive(Debug, PartialEq, Eq)]
    interface Erc20 {
        error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed);
        function approve(address spender, uint256 value) external returns (bool);
        function allowance(address owner, address spender) external view returns (uint256);
        function balanceOf(address account) external view returns (uint256);
        function transfer(address to, uint256 value) external returns (bool);
    }

    #[sol(rpc)]
    #[derive(Debug, PartialEq, Eq)]
    interface Vault {
        event Swap(address indexed user, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut);
        error InsufficientOutputAmount(uint256 amountOut, uint256 minAmountOut);
        error InsufficientLiquidity(uint256 needed, uint256 available);
        error PriceImpactTooHigh(uint256 impactBps, uint256 maxImpactBps);
        error StalePrice();
        function swapExactTokensForTokens(address _tokenIn, address _tokenOut, uint256 _amountIn, uint256 _minAmountOut) external;
        function SWAP_FEE_BPS() external view returns (uint256);
        function BPS_DENOMINATOR() external view returns (uint256);
        function reserves(address token) external view returns (uint256);
        function quoteSwap(address tokenIn, address tokenOut, uint256 amountIn) external view returns (uint256 amountOut, uint256 fee, uint256 impactBps, uint8 status);
    }

    #[sol(rpc)]
    #[derive(Debug, PartialEq, Eq)]
    interface Oracle {
        event PriceUpdated(address indexed token, uint256 price, uint256 timestamp);
        event PriceRejected(address indexed token, uint256 current, uint256 proposed);
        function getPrice(address token) external view returns (uint256 price, uint256 updatedAt);
        function readPrice(address token) external view returns (uint256 price, bool fresh);
        function setPrice(address token, uint256 price) external;
        function setUpdater(address newUpdater) external;
        function setMaxMoveBps(uint16 newBps) external;
        function setMaxAge(uint40 newSeconds) external;
    }

    #[sol(rpc)]
    #[derive(Debug, PartialEq, Eq)]
    interface Pool {
        function deposit(address asset, uint256 amount) external;
        function withdraw(address asset, uint256 amount) external;
        function borrow(address asset, uint256 amount) external;
        function repay(address asset, uint256 amount) external;
    }
}
