// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title A token that is the chain's native coin, as on chains whose gas is paid in USDC.
contract NativeToken {
    function balanceOf(address account) external view returns (uint256) {
        return account.balance / 1e12;
    }
}
