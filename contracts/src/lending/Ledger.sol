// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Interest} from "./Interest.sol";
import {Holding} from "./PoolTypes.sol";
import {Ray} from "./Ray.sol";

/// @title Ledger
/// @notice All changes of a user's position in an asset, each together with the asset's totals. Claims on the pool are
/// rounded down when they are credited and up when they are debited, debts the other way round: no operation leaves the
/// pool poorer, so splitting or repeating operations cannot gain. Since an index is never below one, the rounding is worth
/// less than one index unit, and a full withdrawal or repayment leaves exactly zero.
library Ledger {
    /// @notice The user's claim on the asset.
    function supplied(Holding memory holding) internal pure returns (uint256) {
        return Ray.mulDown(holding.scaledSupply, holding.state.liquidityIndex);
    }

    /// @notice The user's debt in the asset.
    function debt(Holding memory holding, uint256 band) internal pure returns (uint256) {
        return Ray.mulUp(holding.scaledDebt, holding.state.borrowIndexes[band]);
    }

    /// @notice Credits a deposit.
    /// @return lost The amount lost to rounding, because a claim is a whole number of index units.
    function mintSupply(Holding memory holding, uint256 amount) internal pure returns (uint256 lost) {
        uint256 scaled = Ray.divDown(amount, holding.state.liquidityIndex);
        lost = amount - Ray.mulDown(scaled, holding.state.liquidityIndex);
        holding.scaledSupply += scaled;
        holding.state.scaledSupply += scaled;
        holding.state.cash += amount;
        holding.changed = true;
    }

    /// @notice Pays out `amount`, at most the supply.
    function burnSupply(Holding memory holding, uint256 amount) internal pure {
        holding.state.scaledSupply -= takeSupply(holding, amount);
        holding.state.cash -= amount;
    }

    /// @notice Debits `amount`, at most the supply, from the user's claim but not from the total: it goes to another user.
    /// The consent to use a supply as collateral ends with the supply, so that what a stranger sends later is not collateral.
    /// @return scaled The other user's credit, in index units.
    function takeSupply(Holding memory holding, uint256 amount) internal pure returns (uint256 scaled) {
        scaled = Ray.divUp(amount, holding.state.liquidityIndex);
        holding.scaledSupply -= scaled;
        if (holding.scaledSupply == 0) holding.collateral = false;
        holding.changed = true;
    }

    /// @notice Credits the user with a part of the total supply that another user transferred.
    function giveSupply(Holding memory holding, uint256 scaled) internal pure {
        holding.scaledSupply += scaled;
        holding.changed = true;
    }

    /// @notice Lends `amount`, which the pool has in cash.
    function mintDebt(Holding memory holding, uint256 band, uint256 amount) internal pure {
        uint256 scaled = Ray.divUp(amount, holding.state.borrowIndexes[band]);
        holding.scaledDebt += scaled;
        holding.state.scaledDebts[band] += scaled;
        holding.state.cash -= amount;
        holding.changed = true;
    }

    /// @notice Takes a repayment of `amount`, at most the debt.
    function burnDebt(Holding memory holding, uint256 band, uint256 amount) internal pure {
        uint256 scaled = Ray.divDown(amount, holding.state.borrowIndexes[band]);
        holding.scaledDebt -= scaled;
        holding.state.scaledDebts[band] -= scaled;
        holding.state.cash += amount;
        holding.changed = true;
    }

    /// @notice Converts the user's debt to another band's units.
    function moveDebt(Holding memory holding, uint256 from, uint256 to) internal pure {
        uint256 scaled = Ray.divUp(debt(holding, from), holding.state.borrowIndexes[to]);
        holding.state.scaledDebts[from] -= holding.scaledDebt;
        holding.state.scaledDebts[to] += scaled;
        holding.scaledDebt = scaled;
        holding.changed = true;
    }

    /// @notice Writes off an uncovered debt. The treasury covers what it can; the rest is recorded as a deficit, which the
    /// treasury's later income repays.
    /// @return amount The debt written off.
    /// @return fromTreasury The part that the treasury covered.
    function writeOff(Holding memory holding, uint256 band)
        internal
        pure
        returns (uint256 amount, uint256 fromTreasury)
    {
        amount = debt(holding, band);
        fromTreasury = Math.min(amount, holding.state.treasury);
        holding.state.treasury -= fromTreasury;
        holding.state.deficit += amount - fromTreasury;
        holding.state.scaledDebts[band] -= holding.scaledDebt;
        holding.scaledDebt = 0;
        holding.changed = true;
    }

    /// @notice Seizes `amount`, at most the supply, from a user in liquidation. The treasury earns `fee` of it.
    /// @param inKind Whether the rest stays supplied, as another user's claim, or is paid out.
    /// @return scaled The other user's credit in index units; 0 if the rest is paid out.
    function seizeSupply(Holding memory holding, uint256 amount, uint256 fee, bool inKind)
        internal
        pure
        returns (uint256 scaled)
    {
        scaled = takeSupply(holding, amount);
        uint256 burned = inKind ? Ray.divUp(fee, holding.state.liquidityIndex) : scaled;
        scaled -= burned;
        holding.state.scaledSupply -= burned;
        if (!inKind) holding.state.cash -= amount - fee;
        Interest.earn(holding.state, fee);
    }
}
