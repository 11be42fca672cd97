// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The part of EIP-3009 that the router uses.
/// @notice In the form of USDC 2.2, which accepts signatures of contract wallets too.
interface IERC3009 {
    /// @notice Transfers by the payer's signature. The caller must be the recipient.
    /// @param from The payer, who signed.
    /// @param to The recipient.
    /// @param value The amount in token units.
    /// @param validAfter The block's time must be later; Unix seconds.
    /// @param validBefore The block's time must be earlier; Unix seconds.
    /// @param nonce Unique per payer, chosen by the payer.
    /// @param signature 65 bytes of a key, or whatever a contract wallet accepts by ERC-1271.
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
