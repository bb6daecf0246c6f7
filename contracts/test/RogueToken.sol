// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title RogueToken
/// @notice A token that breaks the rules of ERC-20 in the way a test asks for.
contract RogueToken is ERC20 {
    enum Manners {
        Good,
        // Keeps one per cent of every transfer.
        TakesFee,
        // Works, but returns no data, like some early tokens.
        ReturnsNothing,
        // Moves nothing and returns true.
        Lies,
        // Moves nothing and returns false.
        ReturnsFalse,
        // Reverts with {Refused}.
        Reverts,
        // Moves more than it was told to.
        Overpays,
        // Makes the call it was given before it moves anything.
        CallsBack
    }

    enum Symbols {
        Good,
        Reverts,
        // Uses up all gas.
        Loops,
        // Returns a word instead of a string, like some early tokens.
        IsWord,
        // Returns a string of a hundred thousand bytes.
        IsLong,
        // Returns less than the length of the string says.
        IsCut
    }

    error Refused();

    Manners public manners;
    Symbols public symbols;
    address public target;
    bytes public data;
    bool public callSucceeded;
    bytes public callResult;
    uint8 private immutable _decimals;

    constructor(uint8 decimals_) ERC20("Rogue", "RGE") {
        _decimals = decimals_;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function behave(Manners manners_) external {
        manners = manners_;
    }

    function mark(Symbols symbols_) external {
        symbols = symbols_;
    }

    function callBack(address target_, bytes calldata data_) external {
        (manners, target, data) = (Manners.CallsBack, target_, data_);
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        return _obey(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        _spendAllowance(from, msg.sender, amount);
        return _obey(from, to, amount);
    }

    function symbol() public view override returns (string memory) {
        if (symbols == Symbols.Reverts) revert Refused();
        while (symbols == Symbols.Loops) {}
        if (symbols == Symbols.IsLong) return string(new bytes(100_000));
        if (symbols != Symbols.Good) {
            uint256 size = symbols == Symbols.IsWord ? 32 : 68;
            assembly {
                mstore(0, 32)
                mstore(32, 8)
                mstore(64, 0)
                return(0, size)
            }
        }
        return super.symbol();
    }

    function decimals() public view override returns (uint8) {
        if (symbols != Symbols.Good) revert Refused();
        return _decimals;
    }

    function _obey(address from, address to, uint256 amount) private returns (bool) {
        if (manners == Manners.Reverts) revert Refused();
        if (manners == Manners.ReturnsFalse) return false;
        if (manners == Manners.Lies) return true;
        if (manners == Manners.CallsBack) (callSucceeded, callResult) = target.call(data);
        _transfer(from, to, amount);
        if (manners == Manners.TakesFee) _burn(to, amount / 100);
        if (manners == Manners.Overpays) _mint(to, 1);
        if (manners == Manners.ReturnsNothing) {
            assembly {
                return(0, 0)
            }
        }
        return true;
    }
}
