// The contracts' interfaces, written by build.mjs.

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

enum Clock { Stopped, Running, Doubted }

struct Credit {
    uint40 checkpointAt;
    uint40 depositSeconds;
    uint40 healthySeconds;
    uint40 penaltyAt;
    uint40 dueAt;
    uint16 penalty;
    uint8 onTimePayments;
    uint8 band;
    Clock depositClock;
    Clock healthClock;
    bool late;
    uint40 lastBorrowAt;
    uint40 lastPaymentAt;
    uint40 lastLiquidationAt;
    uint64 borrowed;
    uint64 collateral;
    uint64 refused;
    uint40 paidUntil;
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
    function bandOf(uint256 score) external pure returns (uint256 band, uint256 multiplierBps);
    function explain(Credit credit, uint256 suppliedUsd, uint256 debtUsd, uint256 healthFactorBps, uint256 time) external pure returns (ScoreParts);
    function loanToValueBps(uint256 minBps, uint256 maxBps, uint256 score) external pure returns (uint256);
    function rates(AssetParameters parameters, uint256 cash, uint256 debt) external pure returns (uint256 utilisation, uint256 annual, uint256[5] perSecond);
    function rpow(uint256 base, uint256 exponent) external pure returns (uint256);
    function swap(uint256 amountIn, uint256 priceIn, uint8 decimalsIn, uint256 priceOut, uint8 decimalsOut) external pure returns (uint256 grossOut, uint256 fee);
}

interface PoolHarness {
    function forcePosition(address user, address asset, uint128 supplied, uint128 owed) external;
    function forceScore(address user, uint256 score) external;
}

interface RogueTokenErrors {
    error Refused();
}

interface RogueToken {
    enum Manners { Good, TakesFee, ReturnsNothing, Lies, ReturnsFalse, Reverts, Overpays, CallsBack }
    enum Symbols { Good, Reverts, Loops, IsWord, IsLong, IsCut }
    constructor(uint8 decimals_);
    function behave(Manners manners_) external;
    function callBack(address target_, bytes data_) external;
    function callResult() external view returns (bytes);
    function callSucceeded() external view returns (bool);
    function data() external view returns (bytes);
    function manners() external view returns (Manners);
    function mark(Symbols symbols_) external;
    function symbols() external view returns (Symbols);
    function target() external view returns (address);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}
