// The contracts' interfaces, written by build.mjs.

struct Account {
    address user;
    Credit credit;
    Holding[] holdings;
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

enum Halt { None, Behind, Owner }

struct Holding {
    address asset;
    uint256 id;
    uint256 unit;
    uint256 price;
    bool fresh;
    bool halted;
    bool collateral;
    bool changed;
    uint256 scaledSupply;
    uint256 scaledDebt;
    AssetParameters parameters;
    ReserveState state;
}

struct LimitsView {
    uint256 supplyCapTokens;
    uint256 borrowCapTokens;
    uint256 leastLoanUsd;
    bool priceHalted;
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
    uint256 supplyCapTokens;
    uint256 borrowCapTokens;
    AssetParameters parameters;
    ReserveState state;
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

enum SwapStatus { Ok, Paused, SameToken, UnsupportedToken, ZeroAmount, AmountTooLarge, StalePrice, ZeroOutput, InsufficientOutputAmount, InsufficientLiquidity, PriceImpactTooHigh, ImpactWindowExceeded, Halted }

interface LendingLens {
    constructor(address pool_);
    function getAccount(address user) external view returns (AccountView result);
    function getCollateral(address user) external view returns (address[] assets);
    function getLimits(address asset) external view returns (LimitsView result);
    function getLiquidationPrice(address user, address asset) external view returns (uint256 price, LiquidationSide side);
    function getPool(address asset) external view returns (PoolView result);
    function getPools() external view returns (PoolView[] views);
    function getScore(address user) external view returns (ScoreView result);
    function pool() external view returns (address);
    function quoteLiquidation(address borrower, address debtAsset, address collateralAsset, uint256 amount) external view returns (uint256 repaid, uint256 received);
}

interface LendingPoolErrors {
    error AlreadyAdded(address asset);
    error AmountTooSmall();
    error AssetPaused(address asset);
    error BorrowCapExceeded(uint256 borrowed, uint256 cap);
    error BorrowingPowerExceeded(uint256 debtUsd, uint256 borrowingPowerUsd);
    error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
    error InsufficientLiquidity(uint256 needed, uint256 available);
    error InvalidParameters();
    error LoanTooSmall(uint256 debtUsd, uint256 leastLoanUsd);
    error NotAContract(address account);
    error NotCollateral(address asset, address user);
    error NotLiquidatable(uint256 healthFactorBps);
    error NotPToken(address caller);
    error NothingOwed(address asset, address user);
    error NothingSupplied(address asset, address user);
    error OwnableInvalidOwner(address owner);
    error OwnableUnauthorizedAccount(address account);
    error ReentrancyGuardReentrantCall();
    error SafeCastOverflowedUintDowncast(uint8 bits, uint256 value);
    error SafeERC20FailedOperation(address token);
    error StalePrice(address asset);
    error SupplyCapExceeded(uint256 supplied, uint256 cap);
    error TokenHalted(address asset);
    error TooManyAssets();
    error TransferMismatch(uint256 expected, uint256 received);
    error UnsupportedAsset(address asset);
    error UnsupportedDecimals(uint8 decimals);
    error WrongPToken(address pToken);
    error ZeroAmount();
}

interface LendingPool {
    constructor(address owner_, address oracle_);
    event AssetAdded(address indexed asset, address indexed pToken, uint256 id, uint256 decimals);
    event Borrow(address indexed asset, address indexed user, uint256 amount);
    event CapsChanged(address indexed asset, uint256 supplyCapTokens, uint256 borrowCapTokens);
    event CollateralSet(address indexed asset, address indexed user, bool enabled);
    event CreditUpdated(address indexed user, uint256 score, Credit credit);
    event DebtWrittenOff(address indexed asset, address indexed user, uint256 amount, uint256 fromTreasury);
    event Deposit(address indexed asset, address indexed user, uint256 amount);
    event LeastLoanChanged(uint256 previousUsd, uint256 newUsd);
    event Liquidation(address indexed borrower, address indexed debtAsset, address indexed collateralAsset, address liquidator, uint256 repaid, uint256 seized, uint256 fee, bool inKind);
    event OracleChanged(address indexed previousOracle, address indexed newOracle);
    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);
    event ParametersChanged(address indexed asset, AssetParameters parameters);
    event PausedChanged(address indexed asset, bool paused);
    event PositionUpdated(address indexed user, address indexed asset, uint256 scaledSupply, uint256 scaledDebt, uint256 band);
    event Repay(address indexed asset, address indexed user, uint256 amount);
    event ReserveUpdated(address indexed asset, ReserveState state);
    event SupplyTransferred(address indexed asset, address indexed from, address indexed to, uint256 amount, uint256 scaledAmount);
    event TreasuryCollected(address indexed asset, address indexed receiver, uint256 amount);
    event Withdraw(address indexed asset, address indexed user, uint256 amount);
    function acceptOwnership() external;
    function addAsset(address asset, address pToken, AssetParameters parameters, uint128 supplyCapTokens, uint128 borrowCapTokens) external;
    function borrow(address asset, uint256 amount) external;
    function collectTreasury(address asset, uint256 amount, address to) external;
    function deposit(address asset, uint256 amount) external;
    function getAccount(address user) external view returns (Account account, uint256 score);
    function getAssets() external view returns (address[]);
    function getReserve(address asset) external view returns (ReserveView);
    function leastLoanUsd() external view returns (uint256);
    function liquidate(address borrower, address debtAsset, address collateralAsset, uint256 amount, bool inKind) external;
    function oracle() external view returns (address);
    function owner() external view returns (address);
    function pendingOwner() external view returns (address);
    function refresh(address user) external;
    function renounceOwnership() external;
    function repay(address asset, uint256 amount) external;
    function setCaps(address asset, uint128 supplyCapTokens, uint128 borrowCapTokens) external;
    function setCollateral(address asset, bool enabled) external;
    function setLeastLoan(uint256 usd) external;
    function setOracle(address newOracle) external;
    function setParameters(address asset, AssetParameters parameters) external;
    function setPaused(address asset, bool paused) external;
    function suppliedBy(address asset, address user) external view returns (uint256);
    function totalSupplied(address asset) external view returns (uint256);
    function transferOwnership(address newOwner) external;
    function transferSupply(address asset, address from, address to, uint256 amount) external;
    function withdraw(address asset, uint256 amount) external;
    function writeOff(address user) external;
}

interface Multicall3Errors {
    error CallFailed(uint256 index, bytes returnData);
    error ValueMismatch(uint256 sent, uint256 needed);
}

interface Multicall3 {
    struct Call {
        address target;
        bytes callData;
    }
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }
    struct Call3Value {
        address target;
        bool allowFailure;
        uint256 value;
        bytes callData;
    }
    struct Result {
        bool success;
        bytes returnData;
    }
    constructor();
    function aggregate(Call[] calls) external payable returns (uint256 blockNumber, bytes[] returnData);
    function aggregate3(Call3[] calls) external payable returns (Result[] returnData);
    function aggregate3Value(Call3Value[] calls) external payable returns (Result[] returnData);
    function blockAndAggregate(Call[] calls) external payable returns (uint256 blockNumber, bytes32 blockHash, Result[] returnData);
    function getBasefee() external view returns (uint256 basefee);
    function getBlockHash(uint256 blockNumber) external view returns (bytes32 blockHash);
    function getBlockNumber() external view returns (uint256 blockNumber);
    function getChainId() external view returns (uint256 chainid);
    function getCurrentBlockCoinbase() external view returns (address coinbase);
    function getCurrentBlockDifficulty() external view returns (uint256 difficulty);
    function getCurrentBlockGasLimit() external view returns (uint256 gaslimit);
    function getCurrentBlockTimestamp() external view returns (uint256 timestamp);
    function getEthBalance(address addr) external view returns (uint256 balance);
    function getLastBlockHash() external view returns (bytes32 blockHash);
    function tryAggregate(bool requireSuccess, Call[] calls) external payable returns (Result[] returnData);
    function tryBlockAndAggregate(bool requireSuccess, Call[] calls) external payable returns (uint256 blockNumber, bytes32 blockHash, Result[] returnData);
}

interface PTokenErrors {
    error ECDSAInvalidSignature();
    error ECDSAInvalidSignatureLength(uint256 length);
    error ECDSAInvalidSignatureS(bytes32 s);
    error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed);
    error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
    error ERC20InvalidApprover(address approver);
    error ERC20InvalidReceiver(address receiver);
    error ERC20InvalidSender(address sender);
    error ERC20InvalidSpender(address spender);
    error ERC2612ExpiredSignature(uint256 deadline);
    error ERC2612InvalidSigner(address signer, address owner);
    error InvalidAccountNonce(address account, uint256 currentNonce);
    error InvalidShortString();
    error NotPool(address caller);
    error StringTooLong(string str);
}

interface PToken {
    constructor(address pool_, address asset_);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event EIP712DomainChanged();
    event Transfer(address indexed from, address indexed to, uint256 value);
    function DOMAIN_SEPARATOR() external view returns (bytes32);
    function allowance(address owner, address spender) external view returns (uint256);
    function approve(address spender, uint256 value) external returns (bool);
    function asset() external view returns (address);
    function balanceOf(address account) external view returns (uint256);
    function decimals() external view returns (uint8);
    function eip712Domain() external view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions);
    function name() external view returns (string);
    function nonces(address owner) external view returns (uint256);
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external;
    function pool() external view returns (address);
    function recordTransfer(address from, address to, uint256 amount) external;
    function symbol() external view returns (string);
    function totalSupply() external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface PriceOracleErrors {
    error InvalidMaxAge();
    error InvalidMaxMove();
    error InvalidPrice(uint256 price);
    error LengthMismatch(uint256 tokens, uint256 prices);
    error NotHalted(address token);
    error NotUpdater(address caller);
    error OwnableInvalidOwner(address owner);
    error OwnableUnauthorizedAccount(address account);
}

interface PriceOracle {
    constructor(address owner_, address updater_);
    event MaxAgeChanged(uint256 previousSeconds, uint256 newSeconds);
    event MaxMoveChanged(uint256 previousBps, uint256 newBps);
    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);
    event PriceRejected(address indexed token, uint256 current, uint256 proposed);
    event PriceUpdated(address indexed token, uint256 price, uint256 timestamp);
    event TokenHalted(address indexed token, uint256 price, uint256 target);
    event TokenResumed(address indexed token, uint256 price);
    event UpdaterChanged(address indexed previousUpdater, address indexed newUpdater);
    function PRICE_LIMIT() external view returns (uint256);
    function acceptOwnership() external;
    function getHalts(address[] tokens) external view returns (Halt[] halts, uint256[] targets);
    function getPrice(address token) external view returns (uint256 price, uint256 updatedAt);
    function getPrices(address[] tokens) external view returns (uint256[] prices, uint256[] updatedAts);
    function getTokens() external view returns (address[]);
    function halt(address token, uint256 target) external;
    function halted(address token) external view returns (bool);
    function maxAge() external view returns (uint40);
    function maxMoveBps() external view returns (uint16);
    function owner() external view returns (address);
    function pendingOwner() external view returns (address);
    function readPrice(address token) external view returns (uint256 price, bool fresh, bool isHalted);
    function renounceOwnership() external;
    function resume(address token) external;
    function setMaxAge(uint40 newSeconds) external;
    function setMaxMoveBps(uint16 newBps) external;
    function setPrice(address token, uint256 price) external;
    function setUpdater(address newUpdater) external;
    function transferOwnership(address newOwner) external;
    function updatePrices(address[] tokens, uint256[] prices) external;
    function updatePricesToward(address[] tokens, uint256[] prices, uint256[] targets) external;
    function updater() external view returns (address);
}

interface TokenErrors {
    error ECDSAInvalidSignature();
    error ECDSAInvalidSignatureLength(uint256 length);
    error ECDSAInvalidSignatureS(bytes32 s);
    error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed);
    error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
    error ERC20InvalidApprover(address approver);
    error ERC20InvalidReceiver(address receiver);
    error ERC20InvalidSender(address sender);
    error ERC20InvalidSpender(address spender);
    error ERC2612ExpiredSignature(uint256 deadline);
    error ERC2612InvalidSigner(address signer, address owner);
    error InvalidAccountNonce(address account, uint256 currentNonce);
    error InvalidShortString();
    error OwnableInvalidOwner(address owner);
    error OwnableUnauthorizedAccount(address account);
    error StringTooLong(string str);
}

interface Token {
    constructor(string name_, string symbol_, uint8 decimals_, address owner_);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event EIP712DomainChanged();
    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);
    event Transfer(address indexed from, address indexed to, uint256 value);
    function DOMAIN_SEPARATOR() external view returns (bytes32);
    function acceptOwnership() external;
    function allowance(address owner, address spender) external view returns (uint256);
    function approve(address spender, uint256 value) external returns (bool);
    function balanceOf(address account) external view returns (uint256);
    function decimals() external view returns (uint8);
    function eip712Domain() external view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions);
    function mint(address to, uint256 amount) external;
    function name() external view returns (string);
    function nonces(address owner) external view returns (uint256);
    function owner() external view returns (address);
    function pendingOwner() external view returns (address);
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external;
    function renounceOwnership() external;
    function symbol() external view returns (string);
    function totalSupply() external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
    function transferOwnership(address newOwner) external;
}

interface VaultErrors {
    error AlreadySupported(address token);
    error AmountTooLarge();
    error ImpactWindowExceeded(uint256 impactBps, uint256 maxImpactBps);
    error InsufficientLiquidity(uint256 needed, uint256 available);
    error InsufficientOutputAmount(uint256 amountOut, uint256 minAmountOut);
    error InvalidImpactWindow(uint256 bpsPerHour);
    error NotAContract(address token);
    error NotPaused();
    error OwnableInvalidOwner(address owner);
    error OwnableUnauthorizedAccount(address account);
    error Paused();
    error PriceImpactTooHigh(uint256 impactBps, uint256 maxImpactBps);
    error ReentrancyGuardReentrantCall();
    error SafeCastOverflowedUintDowncast(uint8 bits, uint256 value);
    error SafeERC20FailedOperation(address token);
    error SameToken();
    error StalePrice();
    error TokenHalted(address token);
    error TransferMismatch(uint256 expected, uint256 received);
    error UnsupportedDecimals(uint8 decimals);
    error UnsupportedToken();
    error ZeroAmount();
    error ZeroOutput();
}

interface Vault {
    constructor(address owner_, address oracle_);
    event FeesWithdrawn(address indexed token, address indexed receiver, uint256 amount);
    event ImpactWindowChanged(uint256 previousBps, uint256 newBps);
    event LiquidityAdded(address indexed token, address indexed provider, uint256 amount, uint256 reserve);
    event LiquidityRemoved(address indexed token, address indexed receiver, uint256 amount, uint256 reserve);
    event OracleChanged(address indexed previousOracle, address indexed newOracle);
    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);
    event Paused(address account);
    event Swap(address indexed user, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut);
    event SwapPriced(address indexed user, address indexed tokenIn, address indexed tokenOut, uint256 priceIn, uint256 priceOut, uint256 fee, uint256 impactBps);
    event TokenAdded(address indexed token, uint8 decimals);
    event Unpaused(address account);
    function BPS_DENOMINATOR() external view returns (uint256);
    function MAX_PRICE_IMPACT_BPS() external view returns (uint256);
    function SWAP_FEE_BPS() external view returns (uint256);
    function acceptOwnership() external;
    function addLiquidity(address token, uint256 amount) external;
    function addToken(address token) external;
    function feesAccrued(address token) external view returns (uint256);
    function getAmountOut(address tokenIn, address tokenOut, uint256 amountIn) external view returns (uint256 amountOut, uint256 fee);
    function getSupportedTokens() external view returns (address[]);
    function impactWindowBps() external view returns (uint16);
    function oracle() external view returns (address);
    function owner() external view returns (address);
    function pause() external;
    function paused() external view returns (bool);
    function pendingOwner() external view returns (address);
    function quoteSwap(address tokenIn, address tokenOut, uint256 amountIn) external view returns (uint256 amountOut, uint256 fee, uint256 impactBps, SwapStatus status);
    function removeLiquidity(address token, uint256 amount, address to) external;
    function renounceOwnership() external;
    function reserves(address token) external view returns (uint256);
    function setImpactWindow(uint16 bpsPerHour) external;
    function setOracle(address newOracle) external;
    function swapExactTokensForTokens(address _tokenIn, address _tokenOut, uint256 _amountIn, uint256 _minAmountOut) external;
    function transferOwnership(address newOwner) external;
    function unpause() external;
    function withdrawFees(address token, uint256 amount, address to) external;
}
