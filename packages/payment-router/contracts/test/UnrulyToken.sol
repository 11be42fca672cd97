// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC3009} from "../IERC3009.sol";

/// @title A token that burns a part of every transfer, or calls someone back in the middle of it. It checks no signature.
contract UnrulyToken is ERC20, IERC3009 {
    uint256 private immutable cutBps;
    address private target;
    bytes private data;
    address private spared;

    constructor(uint256 cutBps_) ERC20("Unruly", "UNRULY") {
        cutBps = cutBps_;
    }

    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    /// @notice Transfers to this account are whole.
    function spare(address account) external {
        spared = account;
    }

    function callBack(address target_, bytes calldata data_) external {
        target = target_;
        data = data_;
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32,
        bytes calldata
    ) external {
        _transfer(from, to, value);
    }

    function _update(address from, address to, uint256 value) internal override {
        bool transfers = from != address(0) && to != address(0);
        uint256 cut = transfers && to != spared ? (value * cutBps) / 10_000 : 0;
        if (cut != 0) super._update(from, address(0), cut);
        super._update(from, to, value - cut);
        if (transfers && target != address(0)) _callBack();
    }

    function _callBack() private {
        (bool done, bytes memory result) = target.call(data);
        if (done) return;
        assembly {
            revert(add(result, 0x20), mload(result))
        }
    }
}
