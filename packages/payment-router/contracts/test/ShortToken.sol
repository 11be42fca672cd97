// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {TestUSDC} from "../TestUSDC.sol";

/// @title A token that burns one per cent of every transfer.
contract ShortToken is TestUSDC {
    function _update(address from, address to, uint256 value) internal override {
        if (from != address(0) && to != address(0)) {
            uint256 cut = value / 100;
            super._update(from, address(0), cut);
            value -= cut;
        }
        super._update(from, to, value);
    }
}
