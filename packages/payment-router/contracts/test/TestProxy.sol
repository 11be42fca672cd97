// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Proxy} from "@openzeppelin/contracts/proxy/Proxy.sol";
import {StorageSlot} from "@openzeppelin/contracts/utils/StorageSlot.sol";

/// @title A proxy that costs as much as the one in front of USDC: two reads of storage and a delegated call.
contract TestProxy is Proxy {
    bytes32 private constant ADMIN = keccak256("TestProxy.admin");
    bytes32 private constant IMPLEMENTATION = keccak256("TestProxy.implementation");

    error NotForAdmin();

    constructor(address implementation, address admin) {
        StorageSlot.getAddressSlot(ADMIN).value = admin;
        StorageSlot.getAddressSlot(IMPLEMENTATION).value = implementation;
    }

    receive() external payable {
        _fallback();
    }

    function _implementation() internal view override returns (address) {
        if (msg.sender == StorageSlot.getAddressSlot(ADMIN).value) revert NotForAdmin();
        return StorageSlot.getAddressSlot(IMPLEMENTATION).value;
    }
}
