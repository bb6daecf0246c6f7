// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Interest} from "./Interest.sol";
import {Holding} from "./PoolTypes.sol";
import {Ray} from "./Ray.sol";

/// @title Ledger
/// @notice Every way in which a user's part of an asset changes, each with the asset's totals. Claims on the pool are made
/// rounded down and taken off rounded up, debts to it the other way round: an operation leaves the pool as rich as it was
/// or a little richer, so no way of splitting or repeating operations can gain. And since an index is never below one, what
/// rounding adds is worth less than a unit of it: who takes or repays everything is left with exactly nothing.
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
    /// @return lost What the user could not claim back at once, because a claim comes in whole units of the index.
    function mintSupply(Holding memory holding, uint256 amount) internal pure returns (uint256 lost) {
        uint256 scaled = Ray.divDown(amount, holding.state.liquidityIndex);
        lost = amount - Ray.mulDown(scaled, holding.state.liquidityIndex);
        holding.scaledSupply += scaled;
        holding.state.scaledSupply += scaled;
        holding.state.cash += amount;
        holding.changed = true;
    }

    /// @notice Pays out `amount`, at most what is supplied.
    function burnSupply(Holding memory holding, uint256 amount) internal pure {
        holding.state.scaledSupply -= takeSupply(holding, amount);
        holding.state.cash -= amount;
    }

    /// @notice Takes `amount`, at most what is supplied, off the user's claim but not off the total: it goes to another user.
    /// @return scaled What the other user gets.
    function takeSupply(Holding memory holding, uint256 amount) internal pure returns (uint256 scaled) {
        scaled = Ray.divUp(amount, holding.state.liquidityIndex);
        holding.scaledSupply -= scaled;
        holding.changed = true;
    }

    /// @notice Gives the user a part of the total supply that another user gave up.
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

    /// @notice Takes back `amount`, at most what is owed.
    function burnDebt(Holding memory holding, uint256 band, uint256 amount) internal pure {
        uint256 scaled = Ray.divDown(amount, holding.state.borrowIndexes[band]);
        holding.scaledDebt -= scaled;
        holding.state.scaledDebts[band] -= scaled;
        holding.state.cash += amount;
        holding.changed = true;
    }

    /// @notice Writes the user's debt in another band's units.
    function moveDebt(Holding memory holding, uint256 from, uint256 to) internal pure {
        uint256 scaled = Ray.divUp(debt(holding, from), holding.state.borrowIndexes[to]);
        holding.state.scaledDebts[from] -= holding.scaledDebt;
        holding.state.scaledDebts[to] += scaled;
        holding.scaledDebt = scaled;
        holding.changed = true;
    }

    /// @notice Gives up a debt that nothing covers. The treasury bears what it can; the rest is remembered as a deficit,
    /// which the treasury's later income repays.
    /// @return amount The debt given up.
    /// @return fromTreasury The part that the treasury bore.
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

    /// @notice Takes `amount`, at most what is supplied, from a user in liquidation. The treasury earns `fee` of it.
    /// @param inKind Whether the rest stays supplied, as another user's claim, or is paid out.
    /// @return scaled What the other user gets, 0 if the rest is paid out.
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
