// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IPriceOracle} from "../interfaces/IPriceOracle.sol";
import {ExactTransfer} from "../token/ExactTransfer.sol";
import {SwapMath} from "./SwapMath.sol";
import {TokenState, VaultErrors} from "./VaultTypes.sol";

/// @title VaultAdmin
/// @notice The functions of the vault's owner: provide liquidity, collect fees, choose tokens and oracle, pause trading.
abstract contract VaultAdmin is Ownable2Step, ReentrancyGuardTransient {
    using SafeCast for uint256;

    /// @notice The swap fee, in basis points of the gross output.
    uint256 public constant SWAP_FEE_BPS = SwapMath.FEE_BPS;

    /// @notice The number of basis points in 100 %.
    uint256 public constant BPS_DENOMINATOR = SwapMath.BPS_DENOMINATOR;

    /// @notice The maximum share of the output reserve that a single swap may take, in basis points.
    uint256 public constant MAX_PRICE_IMPACT_BPS = 1_000;

    /// @notice The price oracle.
    IPriceOracle public oracle;

    /// @notice Whether trading is paused.
    bool public paused;

    /// @notice The maximum share of an output reserve that all swaps of an hour may take together, in basis points; 0, the
    /// initial value, means no limit.
    uint16 public impactWindowBps;

    address[] private _tokens;
    mapping(address token => TokenState) internal _states;

    /// @notice A token was listed for trading.
    event TokenAdded(address indexed token, uint8 decimals);
    /// @notice The owner added liquidity; `reserve` is the new reserve.
    event LiquidityAdded(address indexed token, address indexed provider, uint256 amount, uint256 reserve);
    /// @notice The owner removed liquidity; `reserve` is the new reserve.
    event LiquidityRemoved(address indexed token, address indexed receiver, uint256 amount, uint256 reserve);
    /// @notice The owner collected swap fees.
    event FeesWithdrawn(address indexed token, address indexed receiver, uint256 amount);
    /// @notice Trading was paused.
    event Paused(address account);
    /// @notice Trading was resumed.
    event Unpaused(address account);
    /// @notice The price oracle was replaced.
    event OracleChanged(address indexed previousOracle, address indexed newOracle);
    /// @notice The share of a reserve that the swaps of an hour may take has changed.
    event ImpactWindowChanged(uint256 previousBps, uint256 newBps);

    constructor(address owner_, IPriceOracle oracle_) Ownable(owner_) {
        oracle = oracle_;
        emit OracleChanged(address(0), address(oracle_));
    }

    /// @notice Lists a token for trading.
    /// @param token The token, with at most 18 decimals.
    function addToken(address token) external onlyOwner {
        if (token.code.length == 0) revert VaultErrors.NotAContract(token);
        TokenState storage state = _states[token];
        if (state.supported) revert VaultErrors.AlreadySupported(token);
        uint8 decimals = IERC20Metadata(token).decimals();
        if (decimals > 18) revert VaultErrors.UnsupportedDecimals(decimals);
        (state.supported, state.decimals) = (true, decimals);
        _tokens.push(token);
        emit TokenAdded(token, decimals);
    }

    /// @notice Adds liquidity to a token's reserve, from the owner's approved balance.
    /// @param token The token.
    /// @param amount The amount.
    function addLiquidity(address token, uint256 amount) external onlyOwner nonReentrant {
        TokenState storage state = _supported(token, amount);
        state.reserve = (state.reserve + amount).toUint160();
        emit LiquidityAdded(token, msg.sender, amount, state.reserve);
        ExactTransfer.pull(token, amount);
    }

    /// @notice Removes liquidity from a token's reserve.
    /// @param token The token.
    /// @param amount The amount.
    /// @param to The account that receives it.
    function removeLiquidity(address token, uint256 amount, address to) external onlyOwner nonReentrant {
        TokenState storage state = _supported(token, amount);
        uint256 reserve = state.reserve;
        if (amount > reserve) revert VaultErrors.InsufficientLiquidity(amount, reserve);
        state.reserve = (reserve - amount).toUint160();
        emit LiquidityRemoved(token, to, amount, reserve - amount);
        ExactTransfer.push(token, to, amount);
    }

    /// @notice Collects swap fees.
    /// @param token The token the fees are in.
    /// @param amount The amount; a larger one than available means all of it.
    /// @param to The account that receives them.
    function withdrawFees(address token, uint256 amount, address to) external onlyOwner nonReentrant {
        TokenState storage state = _states[token];
        uint256 paid = Math.min(amount, state.feesAccrued);
        if (paid == 0) revert VaultErrors.ZeroAmount();
        state.feesAccrued -= paid;
        emit FeesWithdrawn(token, to, paid);
        ExactTransfer.push(token, to, paid);
    }

    /// @notice Pauses trading.
    function pause() external onlyOwner {
        if (paused) revert VaultErrors.Paused();
        paused = true;
        emit Paused(msg.sender);
    }

    /// @notice Resumes trading.
    function unpause() external onlyOwner {
        if (!paused) revert VaultErrors.NotPaused();
        paused = false;
        emit Unpaused(msg.sender);
    }

    /// @notice Replaces the price oracle.
    /// @param newOracle The new oracle.
    function setOracle(IPriceOracle newOracle) external onlyOwner {
        if (address(newOracle).code.length == 0) revert VaultErrors.NotAContract(address(newOracle));
        emit OracleChanged(address(oracle), address(newOracle));
        oracle = newOracle;
    }

    /// @notice Limits the share of an output reserve that all swaps of an hour may take together.
    /// @param bpsPerHour Basis points of the reserve; 0 removes the limit.
    function setImpactWindow(uint16 bpsPerHour) external onlyOwner {
        if (bpsPerHour > BPS_DENOMINATOR) revert VaultErrors.InvalidImpactWindow(bpsPerHour);
        emit ImpactWindowChanged(impactWindowBps, bpsPerHour);
        impactWindowBps = bpsPerHour;
    }

    /// @notice All listed tokens, in the order in which they were added.
    /// @return The tokens.
    function getSupportedTokens() external view returns (address[] memory) {
        return _tokens;
    }

    /// @notice The reserve of a token that swaps can take. The vault accounts for it itself, so a direct transfer does not
    /// change it.
    /// @param token The token.
    /// @return The reserve.
    function reserves(address token) external view returns (uint256) {
        return _states[token].reserve;
    }

    /// @notice The uncollected swap fees, which are not part of the reserve.
    /// @param token The token.
    /// @return The fees.
    function feesAccrued(address token) external view returns (uint256) {
        return _states[token].feesAccrued;
    }

    /// @dev The current level of the impact window, in parts of {SwapMath.WHOLE}.
    function _windowLevel(TokenState storage state) internal view returns (uint256) {
        return SwapMath.drain(state.windowLevel, block.timestamp - state.windowUpdatedAt, _allowance());
    }

    function _allowance() internal view returns (uint256) {
        return (impactWindowBps * SwapMath.WHOLE) / BPS_DENOMINATOR;
    }

    function _supported(address token, uint256 amount) private view returns (TokenState storage state) {
        state = _states[token];
        if (!state.supported) revert VaultErrors.UnsupportedToken();
        if (amount == 0) revert VaultErrors.ZeroAmount();
    }
}
