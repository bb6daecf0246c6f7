//! Bindings of the token, the oracle, the exchange and the call aggregator.

use alloy_sol_types::sol;

sol! {
    #![sol(extra_derives(Debug, PartialEq, Eq))]

    interface Token {
        error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
        error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed);
        error ERC20InvalidReceiver(address receiver);
        error ERC2612ExpiredSignature(uint256 deadline);
        error ERC2612InvalidSigner(address signer, address owner);

        event Transfer(address indexed from, address indexed to, uint256 value);

        function name() external view returns (string);
        function symbol() external view returns (string);
        function decimals() external view returns (uint8);
        function totalSupply() external view returns (uint256);
        function balanceOf(address account) external view returns (uint256);
        function allowance(address owner, address spender) external view returns (uint256);
        function transfer(address to, uint256 value) external returns (bool);
        function transferFrom(address from, address to, uint256 value) external returns (bool);
        function approve(address spender, uint256 value) external returns (bool);
        function mint(address to, uint256 amount) external;
        function nonces(address owner) external view returns (uint256);
        function DOMAIN_SEPARATOR() external view returns (bytes32);
        function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external;
    }

    interface Ownable {
        error OwnableUnauthorizedAccount(address account);
        error OwnableInvalidOwner(address owner);

        event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);
        event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

        function owner() external view returns (address);
        function pendingOwner() external view returns (address);
        function transferOwnership(address newOwner) external;
        function acceptOwnership() external;
    }

    interface Guard {
        error ReentrancyGuardReentrantCall();
        error SafeERC20FailedOperation(address token);
        error TransferMismatch(uint256 expected, uint256 received);
        error SafeCastOverflowedUintDowncast(uint8 bits, uint256 value);
    }

    interface PriceOracle {
        error NotUpdater(address caller);
        error LengthMismatch(uint256 tokens, uint256 prices);
        error InvalidPrice(uint256 price);
        error InvalidMaxMove();
        error InvalidMaxAge();

        event PriceUpdated(address indexed token, uint256 price, uint256 timestamp);
        event PriceRejected(address indexed token, uint256 current, uint256 proposed);
        event UpdaterChanged(address indexed previousUpdater, address indexed newUpdater);
        event MaxMoveChanged(uint256 previousBps, uint256 newBps);
        event MaxAgeChanged(uint256 previousSeconds, uint256 newSeconds);

        function PRICE_LIMIT() external view returns (uint256);
        function updater() external view returns (address);
        function maxMoveBps() external view returns (uint16);
        function maxAge() external view returns (uint40);
        function updatePrices(address[] tokens, uint256[] prices) external;
        function setPrice(address token, uint256 price) external;
        function setUpdater(address newUpdater) external;
        function setMaxMoveBps(uint16 newBps) external;
        function setMaxAge(uint40 newSeconds) external;
        function readPrice(address token) external view returns (uint256 price, bool fresh);
        function getPrice(address token) external view returns (uint256 price, uint256 updatedAt);
        function getPrices(address[] tokens) external view returns (uint256[] prices, uint256[] updatedAts);
        function getTokens() external view returns (address[]);
    }

    interface VaultErrors {
        error Paused();
        error NotPaused();
        error SameToken();
        error UnsupportedToken();
        error ZeroAmount();
        error AmountTooLarge();
        error StalePrice();
        error ZeroOutput();
        error InsufficientOutputAmount(uint256 amountOut, uint256 minAmountOut);
        error InsufficientLiquidity(uint256 needed, uint256 available);
        error PriceImpactTooHigh(uint256 impactBps, uint256 maxImpactBps);
        error ImpactWindowExceeded(uint256 impactBps, uint256 maxImpactBps);
        error NotAContract(address token);
        error UnsupportedDecimals(uint8 decimals);
        error AlreadySupported(address token);
        error InvalidImpactWindow(uint256 bpsPerHour);
    }

    enum SwapStatus {
        Ok,
        Paused,
        SameToken,
        UnsupportedToken,
        ZeroAmount,
        AmountTooLarge,
        StalePrice,
        ZeroOutput,
        InsufficientOutputAmount,
        InsufficientLiquidity,
        PriceImpactTooHigh,
        ImpactWindowExceeded
    }

    interface Vault {
        event Swap(address indexed user, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut);
        event SwapPriced(address indexed user, address indexed tokenIn, address indexed tokenOut, uint256 priceIn, uint256 priceOut, uint256 fee, uint256 impactBps);
        event TokenAdded(address indexed token, uint8 decimals);
        event LiquidityAdded(address indexed token, address indexed provider, uint256 amount, uint256 reserve);
        event LiquidityRemoved(address indexed token, address indexed receiver, uint256 amount, uint256 reserve);
        event FeesWithdrawn(address indexed token, address indexed receiver, uint256 amount);
        event Paused(address account);
        event Unpaused(address account);
        event OracleChanged(address indexed previousOracle, address indexed newOracle);
        event ImpactWindowChanged(uint256 previousBps, uint256 newBps);

        function SWAP_FEE_BPS() external view returns (uint256);
        function BPS_DENOMINATOR() external view returns (uint256);
        function MAX_PRICE_IMPACT_BPS() external view returns (uint256);
        function oracle() external view returns (address);
        function paused() external view returns (bool);
        function impactWindowBps() external view returns (uint16);
        function getSupportedTokens() external view returns (address[]);
        function reserves(address token) external view returns (uint256);
        function feesAccrued(address token) external view returns (uint256);
        function getAmountOut(address tokenIn, address tokenOut, uint256 amountIn) external view returns (uint256 amountOut, uint256 fee);
        function quoteSwap(address tokenIn, address tokenOut, uint256 amountIn) external view returns (uint256 amountOut, uint256 fee, uint256 impactBps, SwapStatus status);
        function swapExactTokensForTokens(address _tokenIn, address _tokenOut, uint256 _amountIn, uint256 _minAmountOut) external;
        function addToken(address token) external;
        function addLiquidity(address token, uint256 amount) external;
        function removeLiquidity(address token, uint256 amount, address to) external;
        function withdrawFees(address token, uint256 amount, address to) external;
        function pause() external;
        function unpause() external;
        function setOracle(address newOracle) external;
        function setImpactWindow(uint16 bpsPerHour) external;
    }

    interface Multicall3 {
        struct Call { address target; bytes callData; }
        struct Call3 { address target; bool allowFailure; bytes callData; }
        struct Call3Value { address target; bool allowFailure; uint256 value; bytes callData; }
        struct Result { bool success; bytes returnData; }

        error CallFailed(uint256 index, bytes returnData);
        error ValueMismatch(uint256 sent, uint256 needed);

        function aggregate(Call[] calls) external payable returns (uint256 blockNumber, bytes[] returnData);
        function tryAggregate(bool requireSuccess, Call[] calls) external payable returns (Result[] returnData);
        function blockAndAggregate(Call[] calls) external payable returns (uint256 blockNumber, bytes32 blockHash, Result[] returnData);
        function tryBlockAndAggregate(bool requireSuccess, Call[] calls) external payable returns (uint256 blockNumber, bytes32 blockHash, Result[] returnData);
        function aggregate3(Call3[] calls) external payable returns (Result[] returnData);
        function aggregate3Value(Call3Value[] calls) external payable returns (Result[] returnData);
        function getBlockHash(uint256 blockNumber) external view returns (bytes32 blockHash);
        function getBlockNumber() external view returns (uint256 blockNumber);
        function getCurrentBlockCoinbase() external view returns (address coinbase);
        function getCurrentBlockDifficulty() external view returns (uint256 difficulty);
        function getCurrentBlockGasLimit() external view returns (uint256 gaslimit);
        function getCurrentBlockTimestamp() external view returns (uint256 timestamp);
        function getEthBalance(address addr) external view returns (uint256 balance);
        function getLastBlockHash() external view returns (bytes32 blockHash);
        function getBasefee() external view returns (uint256 basefee);
        function getChainId() external view returns (uint256 chainid);
    }

    enum Manners { Good, TakesFee, ReturnsNothing, Lies, ReturnsFalse, Reverts, Overpays, CallsBack }

    interface RogueToken {
        error Refused();

        function mint(address to, uint256 amount) external;
        function behave(Manners manners) external;
        function callBack(address target, bytes data) external;
        function callSucceeded() external view returns (bool);
        function callResult() external view returns (bytes);
    }
}
