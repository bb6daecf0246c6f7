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
/// @notice What the vault's owner does: provide liquidity, collect fees, choose tokens and oracle, stop trading.
abstract contract VaultAdmin is Ownable2Step, ReentrancyGuardTransient {
    using SafeCast for uint256;

    /// @notice The swap fee, in basis points of the gross output.
    uint256 public constant SWAP_FEE_BPS = SwapMath.FEE_BPS;

    /// @notice How many basis points make 100 %.
    uint256 public constant BPS_DENOMINATOR = SwapMath.BPS_DENOMINATOR;

    /// @notice The largest share of the output reserve a single swap may take, in basis points.
    uint256 public constant MAX_PRICE_IMPACT_BPS = 1_000;

    /// @notice Where prices come from.
    IPriceOracle public oracle;

    /// @notice Whether trading is stopped.
    bool public paused;

    /// @notice The largest share of an output reserve that all swaps of an hour may take together, in basis points; 0, the
    /// initial value, means any.
    uint16 public impactWindowBps;

    address[] private _tokens;
    mapping(address token => TokenState) internal _states;

    /// @notice A token can be traded from now on.
    event TokenAdded(address indexed token, uint8 decimals);
    /// @notice The owner added to a reserve, which is `reserve` now.
    event LiquidityAdded(address indexed token, address indexed provider, uint256 amount, uint256 reserve);
    /// @notice The owner took from a reserve, which is `reserve` now.
    event LiquidityRemoved(address indexed token, address indexed receiver, uint256 amount, uint256 reserve);
    /// @notice The owner collected swap fees.
    event FeesWithdrawn(address indexed token, address indexed receiver, uint256 amount);
    /// @notice Trading stopped.
    event Paused(address account);
    /// @notice Trading goes on.
    event Unpaused(address account);
    /// @notice Prices come from another oracle now.
    event OracleChanged(address indexed previousOracle, address indexed newOracle);
    /// @notice The share of a reserve that the swaps of an hour may take has changed.
    event ImpactWindowChanged(uint256 previousBps, uint256 newBps);

    constructor(address owner_, IPriceOracle oracle_) Ownable(owner_) {
        oracle = oracle_;
        emit OracleChanged(address(0), address(oracle_));
    }

    /// @notice Lets a token be traded.
    /// @param token The token; it has at most 18 decimals.
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

    /// @notice Adds to a token's reserve, from the owner's approved balance.
    /// @param token The token.
    /// @param amount How much.
    function addLiquidity(address token, uint256 amount) external onlyOwner nonReentrant {
        TokenState storage state = _supported(token, amount);
        state.reserve = (state.reserve + amount).toUint160();
        emit LiquidityAdded(token, msg.sender, amount, state.reserve);
        ExactTransfer.pull(token, amount);
    }

    /// @notice Takes from a token's reserve.
    /// @param token The token.
    /// @param amount How much.
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
    /// @param amount How much; more than there is means all of it.
    /// @param to The account that receives them.
    function withdrawFees(address token, uint256 amount, address to) external onlyOwner nonReentrant {
        TokenState storage state = _states[token];
        uint256 paid = Math.min(amount, state.feesAccrued);
        if (paid == 0) revert VaultErrors.ZeroAmount();
        state.feesAccrued -= paid;
        emit FeesWithdrawn(token, to, paid);
        ExactTransfer.push(token, to, paid);
    }

    /// @notice Stops trading.
    function pause() external onlyOwner {
        if (paused) revert VaultErrors.Paused();
        paused = true;
        emit Paused(msg.sender);
    }

    /// @notice Lets trading go on.
    function unpause() external onlyOwner {
        if (!paused) revert VaultErrors.NotPaused();
        paused = false;
        emit Unpaused(msg.sender);
    }

    /// @notice Takes prices from another oracle.
    /// @param newOracle That oracle.
    function setOracle(IPriceOracle newOracle) external onlyOwner {
        if (address(newOracle).code.length == 0) revert VaultErrors.NotAContract(address(newOracle));
        emit OracleChanged(address(oracle), address(newOracle));
        oracle = newOracle;
    }

    /// @notice Limits what all swaps of an hour may take of an output reserve together.
    /// @param bpsPerHour Basis points of the reserve; 0 lifts the limit.
    function setImpactWindow(uint16 bpsPerHour) external onlyOwner {
        if (bpsPerHour > BPS_DENOMINATOR) revert VaultErrors.InvalidImpactWindow(bpsPerHour);
        emit ImpactWindowChanged(impactWindowBps, bpsPerHour);
        impactWindowBps = bpsPerHour;
    }

    /// @notice Every token that can be traded, in the order in which they were added.
    /// @return The tokens.
    function getSupportedTokens() external view returns (address[] memory) {
        return _tokens;
    }

    /// @notice What can be swapped out of the vault. Kept by the vault itself: a donation changes nothing.
    /// @param token The token.
    /// @return The reserve.
    function reserves(address token) external view returns (uint256) {
        return _states[token].reserve;
    }

    /// @notice The swap fees that wait to be collected; they are not part of the reserve.
    /// @param token The token.
    /// @return The fees.
    function feesAccrued(address token) external view returns (uint256) {
        return _states[token].feesAccrued;
    }

    /// @dev The share of the reserve that counts against the hour's allowance now.
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
