// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title Multicall3
/// @notice Many calls in one, with the interface that client libraries expect at the well-known address.
contract Multicall3 {
    /// @notice A call that must succeed.
    struct Call {
        address target;
        bytes callData;
    }

    /// @notice A call that may be allowed to fail.
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    /// @notice A call that sends native coin and may be allowed to fail.
    struct Call3Value {
        address target;
        bool allowFailure;
        uint256 value;
        bytes callData;
    }

    /// @notice How a call ended, and what it returned or reverted with.
    struct Result {
        bool success;
        bytes returnData;
    }

    /// @notice A call that was not allowed to fail did.
    error CallFailed(uint256 index, bytes returnData);
    /// @notice The calls send another sum than was sent along.
    error ValueMismatch(uint256 sent, uint256 needed);

    /// @notice Makes calls that must all succeed.
    /// @param calls The calls.
    /// @return blockNumber The current block.
    /// @return returnData What each call returned.
    function aggregate(Call[] calldata calls)
        external
        payable
        returns (uint256 blockNumber, bytes[] memory returnData)
    {
        Result[] memory results = tryAggregate(true, calls);
        returnData = new bytes[](results.length);
        for (uint256 i = 0; i < results.length; ++i) {
            returnData[i] = results[i].returnData;
        }
        return (block.number, returnData);
    }

    /// @notice Makes calls that must all succeed.
    /// @param calls The calls.
    /// @return blockNumber The current block.
    /// @return blockHash Always zero on this chain as on any other: a block cannot know its own hash.
    /// @return returnData How each call ended.
    function blockAndAggregate(Call[] calldata calls)
        external
        payable
        returns (uint256 blockNumber, bytes32 blockHash, Result[] memory returnData)
    {
        return tryBlockAndAggregate(true, calls);
    }

    /// @notice Makes calls that may be allowed to fail.
    /// @param requireSuccess Whether they must all succeed.
    /// @param calls The calls.
    /// @return blockNumber The current block.
    /// @return blockHash Always zero on this chain as on any other: a block cannot know its own hash.
    /// @return returnData How each call ended.
    function tryBlockAndAggregate(bool requireSuccess, Call[] calldata calls)
        public
        payable
        returns (uint256 blockNumber, bytes32 blockHash, Result[] memory returnData)
    {
        return (block.number, blockhash(block.number), tryAggregate(requireSuccess, calls));
    }

    /// @notice Makes calls that may be allowed to fail.
    /// @param requireSuccess Whether they must all succeed.
    /// @param calls The calls.
    /// @return returnData How each call ended.
    function tryAggregate(bool requireSuccess, Call[] calldata calls)
        public
        payable
        returns (Result[] memory returnData)
    {
        returnData = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            returnData[i] = _call(i, calls[i].target, 0, calls[i].callData, !requireSuccess);
        }
    }

    /// @notice Makes calls, each of which says whether it may fail.
    /// @param calls The calls.
    /// @return returnData How each call ended.
    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory returnData) {
        returnData = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            returnData[i] = _call(i, calls[i].target, 0, calls[i].callData, calls[i].allowFailure);
        }
    }

    /// @notice Makes calls with native coin, each of which says whether it may fail. The sums must add up to what is sent
    /// along, or the next caller could spend what is left here.
    /// @param calls The calls.
    /// @return returnData How each call ended.
    function aggregate3Value(Call3Value[] calldata calls) external payable returns (Result[] memory returnData) {
        returnData = new Result[](calls.length);
        uint256 needed = 0;
        for (uint256 i = 0; i < calls.length; ++i) {
            needed += calls[i].value;
            returnData[i] = _call(i, calls[i].target, calls[i].value, calls[i].callData, calls[i].allowFailure);
        }
        if (needed != msg.value) revert ValueMismatch(msg.value, needed);
    }

    /// @notice The hash of a block.
    /// @param blockNumber The block.
    /// @return blockHash Its hash; zero for one that is not among the last 256.
    function getBlockHash(uint256 blockNumber) external view returns (bytes32 blockHash) {
        return blockhash(blockNumber);
    }

    /// @notice The current block's number.
    /// @return blockNumber The number.
    function getBlockNumber() external view returns (uint256 blockNumber) {
        return block.number;
    }

    /// @notice The current block's beneficiary.
    /// @return coinbase The beneficiary.
    function getCurrentBlockCoinbase() external view returns (address coinbase) {
        return block.coinbase;
    }

    /// @notice The current block's random value, which took the difficulty's place.
    /// @return difficulty The value.
    function getCurrentBlockDifficulty() external view returns (uint256 difficulty) {
        return block.prevrandao;
    }

    /// @notice The current block's gas limit.
    /// @return gaslimit The limit.
    function getCurrentBlockGasLimit() external view returns (uint256 gaslimit) {
        return block.gaslimit;
    }

    /// @notice The current block's time.
    /// @return timestamp Unix seconds.
    function getCurrentBlockTimestamp() external view returns (uint256 timestamp) {
        return block.timestamp;
    }

    /// @notice An account's balance of native coin.
    /// @param addr The account.
    /// @return balance Its balance.
    function getEthBalance(address addr) external view returns (uint256 balance) {
        return addr.balance;
    }

    /// @notice The previous block's hash.
    /// @return blockHash The hash.
    function getLastBlockHash() external view returns (bytes32 blockHash) {
        // Block 0 has no previous one, which is no reason to revert.
        unchecked {
            return blockhash(block.number - 1);
        }
    }

    /// @notice The current block's base fee.
    /// @return basefee The fee per gas.
    function getBasefee() external view returns (uint256 basefee) {
        return block.basefee;
    }

    /// @notice The chain's id.
    /// @return chainid The id.
    function getChainId() external view returns (uint256 chainid) {
        return block.chainid;
    }

    function _call(uint256 index, address target, uint256 value, bytes calldata callData, bool allowFailure)
        private
        returns (Result memory result)
    {
        (result.success, result.returnData) = target.call{value: value}(callData);
        if (!result.success && !allowFailure) revert CallFailed(index, result.returnData);
    }
}
