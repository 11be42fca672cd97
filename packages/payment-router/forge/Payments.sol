// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {PaymentRouter} from "../contracts/PaymentRouter.sol";
import {vm, Vm} from "./Vm.sol";
import {World} from "./World.sol";

/// @title Everything that can be done with a router by its rules, in any order. Each action knows whether it must succeed.
contract Payments is World {
    uint256 internal constant ENOUGH_GAS = 3_000_000;

    struct Signed {
        bytes32 memo;
        address merchant;
        uint256 amount;
        address payer;
        bytes32 salt;
        bytes signature;
    }

    function pay(uint8 payer, uint8 memo, uint8 merchant, uint256 amount) external {
        amount = _bound(amount, 0, 1e10);
        (address from, address to) = (payers[payer % 4], merchants[merchant % 4]);
        bool allowed = token.allowance(from, address(router)) >= amount;
        (bool done, ) = _call(from, abi.encodeCall(PaymentRouter.pay, (memos[memo % 3], to, amount)), ENOUGH_GAS);
        require(done == (allowed && _canPay(from, to, amount)), "pay was blocked, or was not refused");
        if (done) _book(vm.getRecordedLogs(), memos[memo % 3], to, from, amount, _feeOf(amount));
    }

    function payWithPermit(uint8 payer, uint8 memo, uint8 merchant, uint256 amount, uint8 how) external {
        amount = _bound(amount, 0, 1e10);
        (address from, address to) = (payers[payer % 4], merchants[merchant % 4]);
        bool forged = how % 4 == 0;
        bytes memory data = _permitted(memos[memo % 3], to, amount, from, forged ? 0xbad : keys[payer % 4], how % 4 == 1);
        bool allowed = token.allowance(from, address(router)) >= amount || !forged;
        (bool done, ) = _call(from, data, ENOUGH_GAS);
        require(done == (allowed && _canPay(from, to, amount)), "payWithPermit was blocked, or was not refused");
        if (done) _book(vm.getRecordedLogs(), memos[memo % 3], to, from, amount, _feeOf(amount));
    }

    function payWithAuthorization(uint8 payer, uint8 memo, uint8 merchant, uint256 amount, uint8 salt, uint8 tamper) external {
        Signed memory terms = _authorized(payer, memo, merchant, _bound(amount, 0, 1e10), salt);
        if (tamper % 8 == 1) terms.merchant = stranger;
        else if (tamper % 8 == 2) terms.memo = bytes32(uint256(terms.memo) ^ 2);
        else if (tamper % 8 == 3) ++terms.amount;
        else if (tamper % 8 == 4) terms.salt = bytes32(uint256(0xbad));
        else if (tamper % 8 == 5) terms.payer = payers[((payer % 4) + 1) % 4];
        bool intact = tamper % 8 == 0 || tamper % 8 > 5;
        bytes32 nonce = keccak256(abi.encodePacked(terms.memo, bytes12(0), terms.merchant, terms.salt));
        bool must = intact && !token.authorizationState(terms.payer, nonce) && _canPay(terms.payer, terms.merchant, terms.amount);
        (bool done, ) = _call(stranger, _encoded(terms), ENOUGH_GAS);
        require(done == must, "payWithAuthorization was blocked, or was not refused");
        if (!done) return;
        _book(vm.getRecordedLogs(), terms.memo, terms.merchant, terms.payer, terms.amount, _feeOf(terms.amount));
        (done, ) = _call(stranger, _encoded(terms), ENOUGH_GAS);
        require(!done, "a signature was paid twice");
    }

    function deposit(uint8 payer, uint8 memo, uint8 merchant, uint256 amount, bool minted) external {
        amount = _bound(amount, 1, 1e10);
        address from = payers[payer % 4];
        address to = _depositAddress(memos[memo % 3], merchants[merchant % 4]);
        if (token.paused() || _isBlocked(from) || _isBlocked(to)) return;
        if (minted) token.mint(from, amount);
        else expected[from] -= amount;
        vm.prank(from);
        token.transfer(to, amount);
        expected[to] += amount;
    }

    /// @param gasLimit Often too little: then nothing may happen at all.
    function sweep(uint8 memo, uint8 merchant, uint256 gasLimit) external {
        (bytes32 key, address to) = (memos[memo % 3], merchants[merchant % 4]);
        uint256 amount = expected[_depositAddress(key, to)];
        bool enough = gasLimit % 2 == 0;
        bytes memory data = abi.encodeCall(PaymentRouter.sweep, (key, to));
        (bool done, ) = _call(stranger, data, enough ? ENOUGH_GAS : _bound(gasLimit, 20_000, 260_000));
        if (enough) require(done == _canSweep(key, to), "a sweep was blocked, or was not refused");
        else require(!done || _canSweep(key, to), "a sweep was not refused");
        if (!done) return;
        _book(vm.getRecordedLogs(), key, to, _depositAddress(key, to), amount, _isBlocked(feeReceiver) ? 0 : _feeOf(amount));
        (done, ) = _call(stranger, data, ENOUGH_GAS);
        require(!done, "a second sweep did something");
    }

    /// @param gasLimit Often too little: then all that can be swept is swept, or nothing.
    function sweepMany(uint256 seed, uint256 gasLimit) external {
        PaymentRouter.Deposit[] memory list = new PaymentRouter.Deposit[](3);
        for (uint256 i = 0; i < 3; ++i) {
            list[i] = PaymentRouter.Deposit(memos[(seed >> (8 * i)) % 3], merchants[(seed >> (8 * i + 4)) % 4]);
        }
        bool enough = gasLimit % 2 == 0;
        bytes memory data = abi.encodeCall(PaymentRouter.sweepMany, (list));
        (bool done, bytes memory answer) = _call(stranger, data, enough ? ENOUGH_GAS : _bound(gasLimit, 40_000, 700_000));
        require(done || !enough, "sweepMany was blocked");
        if (!done) return;
        uint256[] memory amounts = abi.decode(answer, (uint256[]));
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < 3; ++i) {
            (bytes32 memo, address to) = (list[i].memo, list[i].merchant);
            address from = _depositAddress(memo, to);
            uint256 amount = _canSweep(memo, to) ? expected[from] : 0;
            require(amounts[i] == amount, "sweepMany left something behind, or made something up");
            if (amount != 0) _book(logs, memo, to, from, amount, _isBlocked(feeReceiver) ? 0 : _feeOf(amount));
        }
    }

    function recover(uint8 memo, uint8 merchant, uint256 amount, bool native) external {
        amount = _bound(amount, 1, 1e10);
        (bytes32 key, address to) = (memos[memo % 3], merchants[merchant % 4]);
        address at = _depositAddress(key, to);
        (bool done, ) = _call(stranger, abi.encodeCall(PaymentRouter.recover, (key, to, address(token))), ENOUGH_GAS);
        require(!done, "a payment was recovered past its fee");
        if (native) vm.deal(at, amount);
        else other.mint(at, amount);
        (done, ) = _call(stranger, abi.encodeCall(PaymentRouter.recover, (key, to, native ? address(0) : address(other))), ENOUGH_GAS);
        require(done, "a stray was not recovered");
        if (native) expectedNative[to] += amount;
        else expectedOther[to] += amount;
    }

    /// @dev What is sent to the router by mistake is there until somebody rescues it.
    function stray(uint256 amount, bool rescued) external {
        amount = _bound(amount, 1, 1e10);
        if (token.paused() || _isBlocked(address(router))) return;
        token.mint(address(router), amount);
        expected[address(router)] += amount;
        if (!rescued) return;
        (bool done, ) = _call(stranger, abi.encodeCall(PaymentRouter.rescue, (address(token))), ENOUGH_GAS);
        require(done == !_isBlocked(feeReceiver), "a rescue was blocked, or was not refused");
        if (!done) return;
        expected[feeReceiver] += expected[address(router)];
        expected[address(router)] = 0;
    }

    /// @dev Circle's powers: whoever is blocked now is free again later, and a pause does not last.
    function block_(uint8 who, bool blocked) external {
        if (accounts[who % accounts.length] != stranger) token.setBlacklisted(accounts[who % accounts.length], blocked && who % 2 == 0);
    }

    function pause(uint8 seed) external {
        token.setPaused(seed % 8 == 0);
    }

    function _canPay(address from, address to, uint256 amount) private view returns (bool) {
        if (amount == 0 || token.paused() || expected[from] < amount) return false;
        if (_isBlocked(from) || _isBlocked(to) || _isBlocked(address(router))) return false;
        return _feeOf(amount) == 0 || !_isBlocked(feeReceiver);
    }

    function _canSweep(bytes32 memo, address merchant) private view returns (bool) {
        address from = _depositAddress(memo, merchant);
        return expected[from] != 0 && !token.paused() && !_isBlocked(merchant) && !_isBlocked(from);
    }

    /// @param early The permit is submitted by a stranger first, who takes nothing by it.
    function _permitted(bytes32 memo, address to, uint256 amount, address owner, uint256 key, bool early) private returns (bytes memory) {
        bytes32 kind = keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
        (uint8 v, bytes32 r, bytes32 s) = _signed(
            key,
            keccak256(abi.encode(kind, owner, router, amount, token.nonces(owner), type(uint256).max))
        );
        if (early && !token.paused()) token.permit(owner, address(router), amount, type(uint256).max, v, r, s);
        return abi.encodeCall(PaymentRouter.payWithPermit, (memo, to, amount, type(uint256).max, v, r, s));
    }

    function _authorized(uint8 payer, uint8 memo, uint8 merchant, uint256 amount, uint8 salt) private view returns (Signed memory) {
        Signed memory terms = Signed(memos[memo % 3], merchants[merchant % 4], amount, payers[payer % 4], bytes32(uint256(salt % 4)), "");
        bytes32 kind = keccak256(
            "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );
        bytes32 nonce = keccak256(abi.encodePacked(terms.memo, bytes12(0), terms.merchant, terms.salt));
        (uint8 v, bytes32 r, bytes32 s) = _signed(
            keys[payer % 4],
            keccak256(abi.encode(kind, terms.payer, router, amount, uint256(0), type(uint256).max, nonce))
        );
        terms.signature = abi.encodePacked(r, s, v);
        return terms;
    }

    function _encoded(Signed memory terms) private pure returns (bytes memory) {
        return
            abi.encodeCall(
                PaymentRouter.payWithAuthorization,
                (terms.memo, terms.merchant, terms.amount, terms.payer, 0, type(uint256).max, terms.salt, terms.signature)
            );
    }
}
