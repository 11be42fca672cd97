// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {TestUSDC} from "../TestUSDC.sol";

/// @title A token that calls someone back in the middle of every transfer.
contract ReenteringToken is TestUSDC {
    address private target;
    bytes private data;

    function callBack(address target_, bytes calldata data_) external {
        target = target_;
        data = data_;
    }

    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (target == address(0) || from == address(0)) return;
        (bool done, bytes memory result) = target.call(data);
        if (!done) {
            assembly {
                revert(add(result, 0x20), mload(result))
            }
        }
    }
}
