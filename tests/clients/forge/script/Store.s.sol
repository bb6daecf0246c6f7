// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

import {Probe} from "../src/Probe.sol";

interface Vm {
    function startBroadcast() external;
    function stopBroadcast() external;
}

/// Deploys a contract and sends it two transactions.
contract Store {
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    function run() external {
        vm.startBroadcast();
        Probe probe = new Probe(7);
        probe.store(8);
        probe.store(9);
        vm.stopBroadcast();
        require(probe.value() == 9, "stored");
    }
}
