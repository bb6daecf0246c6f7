// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IPriceOracle} from "../interfaces/IPriceOracle.sol";
import {PoolErrors} from "./PoolErrors.sol";
import {PoolEvents} from "./PoolEvents.sol";
import {Account, AssetParameters, ReserveState} from "./PoolTypes.sol";

/// @notice An asset as the pool sees it now, with interest up to now.
struct ReserveView {
    address asset;
    address pToken;
    uint8 decimals;
    bool paused;
    // In whole tokens; 0 for no limit.
    uint256 supplyCapTokens;
    uint256 borrowCapTokens;
    AssetParameters parameters;
    ReserveState state;
}

/// @title ILendingPool
/// @notice Supply assets to earn interest, and borrow against them as far as a credit score allows.
interface ILendingPool is PoolErrors, PoolEvents {
    /// @notice Supplies `amount` of `asset`. The caller must have approved the pool for it. The supply becomes collateral,
    /// unless the caller has disabled that with {setCollateral}.
    /// @param asset The asset.
    /// @param amount The amount.
    function deposit(address asset, uint256 amount) external;

    /// @notice Withdraws supplied `asset`, including interest. With debt, the prices of all debts and of `asset` must be
    /// fresh and not halted, and collateral without such a price counts for nothing. Without debt no price is needed.
    /// @param asset The asset.
    /// @param amount The amount; a larger one than supplied means all of it.
    function withdraw(address asset, uint256 amount) external;

    /// @notice Borrows `amount` of `asset`. The prices of all debts and of `asset` must be fresh and not halted; collateral
    /// without such a price counts for nothing. Afterwards the debt in `asset` must be worth at least {leastLoanUsd}.
    /// @param asset The asset.
    /// @param amount The amount.
    function borrow(address asset, uint256 amount) external;

    /// @notice Repays borrowed `asset`. The caller must have approved the pool for it. No price, pause or least loan prevents
    /// a repayment.
    /// @param asset The asset.
    /// @param amount The amount; a larger one than the debt means all of it.
    function repay(address asset, uint256 amount) external;

    /// @notice Enables or disables the caller's supply of `asset` as collateral. Only collateral counts: for borrowing, for
    /// the health factor and for the credit score. Deposits enable an asset unless the caller disabled it; claims that others
    /// transfer do not. Enabling ends when the supply is withdrawn, transferred or seized entirely; disabling lasts.
    /// @param asset The asset.
    /// @param enabled Whether the supply is collateral. With debt, disabling requires what a withdrawal does.
    function setCollateral(address asset, bool enabled) external;

    /// @notice Liquidates: repays a borrower's debt that is no longer covered, in exchange for collateral of a higher value.
    /// The prices of the two assets must be fresh; all others count as they are. A halt of the price feed does not prevent
    /// liquidation: a halted price lies between its old and its new value, and waiting for it to arrive would leave bad debt
    /// to the suppliers. Prices that move together may arrive in different updates; in between, an account's health factor can
    /// be lower than before and after.
    /// @param borrower The borrower.
    /// @param debtAsset The asset to repay. The caller must have approved the pool for it.
    /// @param collateralAsset The asset to receive.
    /// @param amount The maximum amount to repay.
    /// @param inKind Whether to receive the claim on the collateral instead of the collateral itself, for which the pool may
    /// lack the cash.
    function liquidate(address borrower, address debtAsset, address collateralAsset, uint256 amount, bool inKind)
        external;

    /// @notice Writes off the debts of a user whose remaining collateral, at fresh prices, is worth nothing.
    /// @param user The user.
    function writeOff(address user) external;

    /// @notice Brings a user's credit history and rate band up to date. Callable by anybody, and therefore unable to harm the
    /// user beyond what the history demands. Seconds with at least 100 dollars of collateral, and seconds with a debt of at
    /// least 50 dollars at a health factor of at least 1.5, are added up to now, and start to count if the caller finds that
    /// state. If the caller finds less, the seconds until the next checkpoint still count, unless that finds less as well, at
    /// most two days later: a dip costs the user no more than it lasted, and nothing if it was found once. The user moves to
    /// a dearer band only if the score would demand it with all points for present health.
    /// @param user The user.
    function refresh(address user) external;

    /// @notice Transfers a claim between users. Callable by the asset's receipt token only. A transfer to the sender needs the
    /// balance, and changes nothing.
    /// @param asset The asset.
    /// @param from The sender.
    /// @param to The recipient.
    /// @param amount The amount, in units of the asset.
    function transferSupply(address asset, address from, address to, uint256 amount) external;

    /// @notice The least value of a debt in an asset after borrowing, in US dollars times 10^8; 0 for no limit.
    function leastLoanUsd() external view returns (uint256);

    /// @notice The price oracle.
    function oracle() external view returns (IPriceOracle);

    /// @notice All assets, in the order in which they were added.
    function getAssets() external view returns (address[] memory);

    /// @notice An asset's state, with interest up to now.
    function getReserve(address asset) external view returns (ReserveView memory);

    /// @notice A user's account, with the state that a transaction in this block would start from, and with all of the user's
    /// supply.
    /// @return account The account.
    /// @return score The credit score.
    function getAccount(address user) external view returns (Account memory account, uint256 score);

    /// @notice The total claims of an asset's suppliers.
    function totalSupplied(address asset) external view returns (uint256);

    /// @notice A user's claim on an asset.
    function suppliedBy(address asset, address user) external view returns (uint256);
}
