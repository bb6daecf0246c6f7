//! The lending service's contracts as Rust sees them. The sources are in `contracts/`.

use alloy_sol_types::sol;

sol! {
    /// How an asset earns and how much may be borrowed against it, in basis points.
    #[derive(Debug)]
    struct AssetParameters {
        uint16 baseRateBps;
        uint16 slope1Bps;
        uint16 slope2Bps;
        uint16 kinkBps;
        uint16 reserveFactorBps;
        uint16 minLtvBps;
        uint16 maxLtvBps;
        uint16 liquidationThresholdBps;
        uint16 liquidationBonusBps;
    }

    /// An asset of the pool. Rates are rays per second, by credit band where there are several.
    #[derive(Debug)]
    struct PoolView {
        address asset;
        address pToken;
        string symbol;
        uint8 decimals;
        bool paused;
        uint256 totalSupplied;
        uint256 totalDebt;
        uint256 cash;
        uint256 treasury;
        uint256 deficit;
        uint256 utilisation;
        uint256 annualRate;
        uint256[5] borrowRates;
        uint256 supplyRate;
        uint256 liquidityIndex;
        uint256 supplyCap;
        uint256 borrowCap;
        uint256 price;
        bool priceFresh;
        AssetParameters parameters;
    }

    /// A user's part of an asset.
    #[derive(Debug)]
    struct PositionView {
        address asset;
        string symbol;
        uint8 decimals;
        uint256 supplied;
        uint256 debt;
        uint256 price;
        bool priceFresh;
        uint256 suppliedUsd;
        uint256 debtUsd;
        uint256 supplyRate;
        uint256 borrowRate;
        uint256 loanToValueBps;
        uint256 liquidationThresholdBps;
        uint256 liquidationPrice;
        uint8 liquidationSide;
    }

    /// A user's account. Dollars are × 10^8.
    #[derive(Debug)]
    struct AccountView {
        uint256 score;
        uint256 band;
        uint256 suppliedUsd;
        uint256 borrowingPowerUsd;
        uint256 debtUsd;
        uint256 availableUsd;
        uint256 healthFactorBps;
        uint256 dueAt;
        PositionView[] positions;
    }

    /// A credit score explained. Times are Unix seconds, 0 for never; the health factor is in basis points.
    #[derive(Debug)]
    struct ScoreView {
        uint256 score;
        uint256 band;
        uint256 depositPoints;
        uint256 paymentPoints;
        uint256 healthPoints;
        uint256 historyPoints;
        uint256 penaltyPoints;
        uint256 overduePoints;
        uint256 depositSeconds;
        uint256 onTimePayments;
        uint256 healthFactorBps;
        uint256 healthySeconds;
        uint256 penalty;
        uint256 penaltyAt;
        uint256 dueAt;
        bool late;
        uint256 lastBorrowAt;
        uint256 lastPaymentAt;
    }

    /// The pool.
    interface LendingPool {
        function addAsset(address asset, address pToken, AssetParameters calldata parameters, uint128 supplyCap, uint128 borrowCap) external;
        function deposit(address asset, uint256 amount) external;
        function withdraw(address asset, uint256 amount) external;
        function borrow(address asset, uint256 amount) external;
        function repay(address asset, uint256 amount) external;
    }

    /// What reads the pool.
    interface LendingLens {
        function getPool(address asset) external view returns (PoolView memory result);
        function getPools() external view returns (PoolView[] memory views);
        function getAccount(address user) external view returns (AccountView memory result);
        function getScore(address user) external view returns (ScoreView memory result);
    }
}
