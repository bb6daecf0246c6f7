// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

/// Logging as in Hardhat and Forge: a call to an address without code.
library console {
    function log(string memory text, uint256 number) internal view {
        address sink = 0x000000000000000000636F6e736F6c652e6c6f67;
        bytes memory message = abi.encodeWithSignature("log(string,uint256)", text, number);
        assembly {
            pop(staticcall(gas(), sink, add(message, 32), mload(message), 0, 0))
        }
    }
}

/// A contract with each feature that clients decode.
contract Probe {
    event Stored(address indexed who, uint256 value);

    error TooLarge(uint256 value, uint256 limit);

    uint256 public value;

    constructor(uint256 initial) payable {
        value = initial;
    }

    receive() external payable {}

    function store(uint256 next) external {
        console.log("storing", next);
        if (next > 1000) revert TooLarge(next, 1000);
        require(next != 13, "unlucky");
        value = next;
        emit Stored(msg.sender, next);
    }

    function divide(uint256 by) external view returns (uint256) {
        return value / by;
    }

    function bare() external pure {
        revert();
    }

    function whoami() external view returns (address) {
        return msg.sender;
    }

    function randomness() external view returns (uint256) {
        return block.prevrandao;
    }
}
