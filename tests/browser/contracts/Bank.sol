// SPDX-License-Identifier: MIT OR Apache-2.0
// Contracts to step through: variables of each kind, an internal function, and a failure in another contract.
pragma solidity ^0.8.20;

contract Limits {
    error TooLarge(uint256 amount, uint256 limit);

    uint256 public limit;

    constructor(uint256 limit_) {
        limit = limit_;
    }

    function check(uint256 amount) external view {
        if (amount > limit) {
            revert TooLarge(amount, limit);
        }
    }
}

contract Bank {
    enum Status {
        Closed,
        Open
    }

    struct Account {
        uint128 balance;
        uint64 since;
        bool active;
        Status status;
    }

    // The first four share a slot.
    uint128 public total;
    uint64 public count;
    bool public open = true;
    Status public status = Status.Open;
    address public owner;
    Limits public limits;
    int16[3] public offsets = [int16(-1), 2, -300];
    string public name = "A bank";
    uint256[] public history;
    mapping(address => Account) public accounts;
    mapping(address => mapping(uint256 => bytes4)) public tags;
    mapping(string => uint256) public notes;

    constructor(Limits limits_) {
        owner = msg.sender;
        limits = limits_;
    }

    function deposit(uint128 amount) external {
        require(open, "closed");
        limits.check(amount);
        total += amount;
        count += 1;
        credit(msg.sender, amount);
    }

    function credit(address who, uint128 amount) internal {
        Account storage account = accounts[who];
        account.balance += amount;
        account.since = 7;
        account.active = true;
        account.status = Status.Open;
        history.push(amount);
        tags[who][amount] = "paid";
        notes["last deposit"] = amount;
    }

    function spin() external {
        while (true) {
            count += 1;
        }
    }
}
