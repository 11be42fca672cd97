// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @notice The part of EIP-3009 that the router uses, in the form of USDC 2.2, which takes contract wallets' signatures too.
interface IERC3009 {
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;
}
