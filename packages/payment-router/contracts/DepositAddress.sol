// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";

/// @title What stands at the deposit address of one (memo, merchant), as a clone whose code carries both.
/// @notice It stays after a sweep, so that money arriving later is never stranded. It sends to its merchant and the fee
/// receiver only, and takes no native coin once it stands: refusing a mistake is better than undoing it.
contract DepositAddress {
    using SafeERC20 for IERC20;

    address public immutable router;

    error NotRouter(address caller);

    modifier onlyRouter() {
        if (msg.sender != router) revert NotRouter(msg.sender);
        _;
    }

    constructor() {
        router = msg.sender;
    }

    /// @notice The payment this address stands for. Only a clone has an answer.
    function terms() public view returns (bytes32 memo, address merchant) {
        return abi.decode(Clones.fetchCloneArgs(address(this)), (bytes32, address));
    }

    /// @notice Splits `amount` between the fee receiver and the merchant.
    /// @dev The money is already here and cannot go back, so a token that refuses the fee receiver must not lock it in: the
    /// merchant then gets the fee too. Starving that transfer of gas leaves too little to finish the rest.
    /// @return taken The fee that the fee receiver really got.
    function release(
        IERC20 token,
        uint256 amount,
        address feeReceiver,
        uint256 fee
    ) external onlyRouter returns (uint256 taken) {
        (, address merchant) = terms();
        if (fee != 0 && token.trySafeTransfer(feeReceiver, fee)) taken = fee;
        token.safeTransfer(merchant, amount - taken);
    }

    /// @notice Sends all of `asset` (zero: the native coin) to the merchant.
    function recover(address asset) external onlyRouter returns (uint256 amount) {
        (, address merchant) = terms();
        if (asset == address(0)) {
            amount = address(this).balance;
            Address.sendValue(payable(merchant), amount);
        } else {
            amount = IERC20(asset).balanceOf(address(this));
            IERC20(asset).safeTransfer(merchant, amount);
        }
    }
}
