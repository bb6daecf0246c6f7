//! What the network's contracts say when users do something.

use alloy_sol_types::sol;

sol! {
    /// The exchange's vault.
    #[derive(Debug)]
    interface VaultEvents {
        event Swap(address indexed user, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut);
        event SwapPriced(address indexed user, address indexed tokenIn, address indexed tokenOut, uint256 priceIn, uint256 priceOut, uint256 fee, uint256 impactBps);
    }

    /// The lending pool.
    #[derive(Debug)]
    interface PoolEvents {
        event Deposit(address indexed asset, address indexed user, uint256 amount);
        event Withdraw(address indexed asset, address indexed user, uint256 amount);
        event Borrow(address indexed asset, address indexed user, uint256 amount);
        event Repay(address indexed asset, address indexed user, uint256 amount);
        event SupplyTransferred(address indexed asset, address indexed from, address indexed to, uint256 amount, uint256 scaledAmount);
        event Liquidation(address indexed borrower, address indexed debtAsset, address indexed collateralAsset, address liquidator, uint256 repaid, uint256 seized, uint256 fee, bool inKind);
        event DebtWrittenOff(address indexed asset, address indexed user, uint256 amount, uint256 fromTreasury);
    }
}
