// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";

/// @title The code behind every deposit address of one router.
/// @notice A deposit address is a clone of this contract. It stays after a sweep, so that money arriving later is never
/// stranded, and takes no native coin: refusing a mistake is better than undoing it.
/// @dev A clone stores nothing. Its address is derived from memo and merchant, so the router that can name both is the only
/// caller it needs to obey.
contract DepositAddress {
    using SafeERC20 for IERC20;

    /// @notice The only caller that is obeyed.
    address public immutable router;

    /// @notice The caller is not the router.
    /// @param caller Who called.
    error NotRouter(address caller);

    modifier onlyRouter() {
        if (msg.sender != router) revert NotRouter(msg.sender);
        _;
    }

    constructor() {
        router = msg.sender;
    }

    /// @notice Splits `amount` between the fee receiver and the merchant.
    /// @dev The money is already here and cannot go back, so a token that refuses the fee receiver must not lock it in: the
    /// merchant then gets the fee too. Starving that transfer of gas leaves too little to finish the rest.
    /// @param token The payment token.
    /// @param merchant Whose deposit address this is.
    /// @param amount What to split, in token units.
    /// @param feeReceiver Where the fee goes.
    /// @param fee The fee within `amount`.
    /// @return taken The fee that the fee receiver really got.
    function release(
        IERC20 token,
        address merchant,
        uint256 amount,
        address feeReceiver,
        uint256 fee
    ) external onlyRouter returns (uint256 taken) {
        if (fee != 0 && token.trySafeTransfer(feeReceiver, fee)) taken = fee;
        token.safeTransfer(merchant, amount - taken);
    }

    /// @notice Sends all of an asset to the merchant.
    /// @param asset A token, or zero for the native coin.
    /// @param merchant Whose deposit address this is.
    /// @return amount What was sent.
    function recover(address asset, address merchant) external onlyRouter returns (uint256 amount) {
        if (asset == address(0)) {
            amount = address(this).balance;
            Address.sendValue(payable(merchant), amount);
        } else {
            amount = IERC20(asset).balanceOf(address(this));
            IERC20(asset).safeTransfer(merchant, amount);
        }
    }
}
