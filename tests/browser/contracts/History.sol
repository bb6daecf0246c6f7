// SPDX-License-Identifier: MIT OR Apache-2.0
// Small contracts for a history with tokens of each standard, and with contracts that create contracts.
pragma solidity ^0.8.20;

/// An ERC-20 token whose supply belongs to its creator.
contract Coin {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error InsufficientBalance(uint256 balance, uint256 needed);

    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    constructor(string memory name_, string memory symbol_, uint256 supply) {
        name = name_;
        symbol = symbol_;
        totalSupply = supply;
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        uint256 balance = balanceOf[msg.sender];
        if (balance < value) revert InsufficientBalance(balance, value);
        balanceOf[msg.sender] = balance - value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function burn(uint256 value) external {
        balanceOf[msg.sender] -= value;
        totalSupply -= value;
        emit Transfer(msg.sender, address(0), value);
    }
}

/// An ERC-721 token that anybody may mint.
contract Collectible {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);

    string public constant name = "Test Kittens";
    string public constant symbol = "KITTEN";
    uint256 public totalSupply;
    mapping(uint256 => address) public ownerOf;
    mapping(address => uint256) public balanceOf;

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0x80ac58cd;
    }

    function mint(address to) external returns (uint256 id) {
        id = ++totalSupply;
        ownerOf[id] = to;
        balanceOf[to]++;
        emit Transfer(address(0), to, id);
    }

    function transferFrom(address from, address to, uint256 id) external {
        require(ownerOf[id] == from && msg.sender == from, "not the owner");
        ownerOf[id] = to;
        balanceOf[from]--;
        balanceOf[to]++;
        emit Transfer(from, to, id);
    }
}

/// An ERC-1155 token that anybody may mint.
contract Badges {
    event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value);

    string public constant name = "Test Badges";
    string public constant symbol = "BADGE";
    mapping(address => mapping(uint256 => uint256)) private balances;

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0xd9b67a26;
    }

    function balanceOf(address owner, uint256 id) external view returns (uint256) {
        return balances[owner][id];
    }

    function balanceOfBatch(address[] calldata owners, uint256[] calldata ids) external view returns (uint256[] memory found) {
        found = new uint256[](owners.length);
        for (uint256 at; at < owners.length; at++) found[at] = balances[owners[at]][ids[at]];
    }

    function mint(address to, uint256 id, uint256 value) external {
        balances[to][id] += value;
        emit TransferSingle(msg.sender, address(0), to, id, value);
    }

    function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes calldata) external {
        require(msg.sender == from, "not the owner");
        balances[from][id] -= value;
        balances[to][id] += value;
        emit TransferSingle(msg.sender, from, to, id, value);
    }
}

/// A contract that forwards coins.
contract Purse {
    function pay(address payable to) external payable {
        (bool sent, ) = to.call{value: msg.value}("");
        require(sent, "the recipient refused");
    }
}

/// A contract that creates contracts.
contract Factory {
    event Created(address purse);

    function create() external returns (address purse) {
        purse = address(new Purse());
        emit Created(purse);
    }
}
