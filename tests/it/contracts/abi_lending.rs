//! Bindings of the lending pool, its receipt tokens, its lens and the test harnesses.

use alloy_sol_types::sol;

sol! {
    #![sol(extra_derives(Debug, PartialEq, Eq))]

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

    struct ReserveState {
        uint256 cash;
        uint256 treasury;
        uint256 deficit;
        uint256 liquidityIndex;
        uint256 scaledSupply;
        uint256[5] borrowIndexes;
        uint256[5] scaledDebts;
    }

    struct ReserveView {
        address asset;
        address pToken;
        uint8 decimals;
        bool paused;
        uint256 supplyCap;
        uint256 borrowCap;
        AssetParameters parameters;
        ReserveState state;
    }

    struct Credit {
        uint40 checkpointAt;
        uint40 depositSeconds;
        uint40 healthySeconds;
        uint40 penaltyAt;
        uint40 dueAt;
        uint16 penalty;
        uint8 onTimePayments;
        uint8 band;
        bool depositing;
        bool healthy;
        bool late;
        uint40 lastBorrowAt;
        uint40 lastPaymentAt;
        uint40 lastLiquidationAt;
        uint64 held;
    }

    struct Holding {
        address asset;
        uint256 id;
        uint256 unit;
        uint256 price;
        bool fresh;
        bool changed;
        uint256 scaledSupply;
        uint256 scaledDebt;
        AssetParameters parameters;
        ReserveState state;
    }

    struct Account {
        address user;
        Credit credit;
        Holding[] holdings;
    }

    interface PoolErrors {
        error ZeroAmount();
        error AmountTooSmall();
        error UnsupportedAsset(address asset);
        error AssetPaused(address asset);
        error StalePrice(address asset);
        error InsufficientLiquidity(uint256 needed, uint256 available);
        error BorrowingPowerExceeded(uint256 debtUsd, uint256 borrowingPowerUsd);
        error SupplyCapExceeded(uint256 supplied, uint256 cap);
        error BorrowCapExceeded(uint256 borrowed, uint256 cap);
        error NothingSupplied(address asset, address user);
        error NothingOwed(address asset, address user);
        error NotLiquidatable(uint256 healthFactorBps);
        error NotPToken(address caller);
        error NotAContract(address account);
        error AlreadyAdded(address asset);
        error WrongPToken(address pToken);
        error UnsupportedDecimals(uint8 decimals);
        error TooManyAssets();
        error InvalidParameters();
        error NotPool(address caller);
    }

    interface PoolEvents {
        event Deposit(address indexed asset, address indexed user, uint256 amount);
        event Withdraw(address indexed asset, address indexed user, uint256 amount);
        event Borrow(address indexed asset, address indexed user, uint256 amount);
        event Repay(address indexed asset, address indexed user, uint256 amount);
        event SupplyTransferred(address indexed asset, address indexed from, address indexed to, uint256 amount, uint256 scaledAmount);
        event Liquidation(address indexed borrower, address indexed debtAsset, address indexed collateralAsset, address liquidator, uint256 repaid, uint256 seized, uint256 fee, bool inKind);
        event DebtWrittenOff(address indexed asset, address indexed user, uint256 amount, uint256 fromTreasury);
        event ReserveUpdated(address indexed asset, ReserveState state);
        event PositionUpdated(address indexed user, address indexed asset, uint256 scaledSupply, uint256 scaledDebt, uint256 band);
        event CreditUpdated(address indexed user, uint256 score, Credit credit);
        event AssetAdded(address indexed asset, address indexed pToken, uint256 id, uint256 decimals);
        event ParametersChanged(address indexed asset, AssetParameters parameters);
        event CapsChanged(address indexed asset, uint256 supplyCap, uint256 borrowCap);
        event PausedChanged(address indexed asset, bool paused);
        event OracleChanged(address indexed previousOracle, address indexed newOracle);
        event TreasuryCollected(address indexed asset, address indexed receiver, uint256 amount);
    }

    interface LendingPool {
        function deposit(address asset, uint256 amount) external;
        function withdraw(address asset, uint256 amount) external;
        function borrow(address asset, uint256 amount) external;
        function repay(address asset, uint256 amount) external;
        function liquidate(address borrower, address debtAsset, address collateralAsset, uint256 amount, bool inKind) external;
        function writeOff(address user) external;
        function refresh(address user) external;
        function transferSupply(address asset, address from, address to, uint256 amount) external;
        function oracle() external view returns (address);
        function getAssets() external view returns (address[]);
        function getReserve(address asset) external view returns (ReserveView);
        function getAccount(address user) external view returns (Account account, uint256 score);
        function totalSupplied(address asset) external view returns (uint256);
        function suppliedBy(address asset, address user) external view returns (uint256);
        function addAsset(address asset, address pToken, AssetParameters parameters, uint128 supplyCap, uint128 borrowCap) external;
        function setParameters(address asset, AssetParameters parameters) external;
        function setCaps(address asset, uint128 supplyCap, uint128 borrowCap) external;
        function setPaused(address asset, bool paused) external;
        function setOracle(address newOracle) external;
        function collectTreasury(address asset, uint256 amount, address to) external;
    }

    interface PoolHarness {
        function forceScore(address user, uint256 score) external;
        function forcePosition(address user, address asset, uint128 supplied, uint128 owed) external;
    }

    interface PToken {
        function pool() external view returns (address);
        function asset() external view returns (address);
        function recordTransfer(address from, address to, uint256 amount) external;
    }

    enum LiquidationSide { None, Below, Above }

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
        LiquidationSide liquidationSide;
    }

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

    interface LendingLens {
        function pool() external view returns (address);
        function getPools() external view returns (PoolView[]);
        function getPool(address asset) external view returns (PoolView);
        function getAccount(address user) external view returns (AccountView);
        function getScore(address user) external view returns (ScoreView);
        function quoteLiquidation(address borrower, address debtAsset, address collateralAsset, uint256 amount) external view returns (uint256 repaid, uint256 received);
        function getLiquidationPrice(address user, address asset) external view returns (uint256 price, LiquidationSide side);
    }

    struct ScoreParts {
        uint256 score;
        uint256 depositPoints;
        uint256 paymentPoints;
        uint256 healthPoints;
        uint256 historyPoints;
        uint256 penaltyPoints;
        uint256 overduePoints;
    }

    interface MathHarness {
        function rpow(uint256 base, uint256 exponent) external pure returns (uint256);
        function rates(AssetParameters parameters, uint256 cash, uint256 debt) external pure returns (uint256 utilisation, uint256 annual, uint256[5] perSecond);
        function explain(Credit credit, uint256 suppliedUsd, uint256 debtUsd, uint256 healthFactorBps, uint256 time) external pure returns (ScoreParts);
        function bandOf(uint256 score) external pure returns (uint256 band, uint256 multiplierBps);
        function loanToValueBps(uint256 minBps, uint256 maxBps, uint256 score) external pure returns (uint256);
        function swap(uint256 amountIn, uint256 priceIn, uint8 decimalsIn, uint256 priceOut, uint8 decimalsOut) external pure returns (uint256 grossOut, uint256 fee);
    }
}
