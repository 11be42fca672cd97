// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title Reads many facts of one block in one `eth_call`. It is run as init code and never deployed.
/// @dev Errors of a call are answered as data here. Nodes report the errors of an `eth_call` in many forms.
contract StateProbe {
    /// @notice One call.
    /// @param target The called account.
    /// @param data What it is called with.
    struct Call {
        address target;
        bytes data;
    }

    /// @notice What one call answered.
    /// @param success False when it reverted.
    /// @param data The answer, or why it reverted.
    struct Result {
        bool success;
        bytes data;
    }

    /// @dev Answers abi.encode(chain id, results, codes) in place of code.
    /// @param calls What to call.
    /// @param accounts Whose code to read.
    constructor(Call[] memory calls, address[] memory accounts) {
        Result[] memory results = new Result[](calls.length);
        bytes[] memory codes = new bytes[](accounts.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            (results[i].success, results[i].data) = calls[i].target.call(calls[i].data);
        }
        for (uint256 i = 0; i < accounts.length; ++i) codes[i] = accounts[i].code;
        bytes memory answer = abi.encode(block.chainid, results, codes);
        assembly ("memory-safe") {
            return(add(answer, 32), mload(answer))
        }
    }
}
