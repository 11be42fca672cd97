// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {DepositAddress} from "../contracts/DepositAddress.sol";
import {PaymentRouter} from "../contracts/PaymentRouter.sol";
import {RouterFactory} from "../contracts/RouterFactory.sol";
import {NativeToken} from "../contracts/test/NativeToken.sol";
import {UnrulyToken} from "../contracts/test/UnrulyToken.sol";
import {vm, Vm} from "./Vm.sol";
import {World} from "./World.sol";

/// @title What is refused, and what has one right answer.
contract RouterRules is World {
    bytes32 private constant MEMO = 0xa3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3;
    address private constant MERCHANT = 0x70997970C51812dc3A010C7d01b50e0d17dc79C8;

    function _refused(address sender, address target, bytes memory data, bytes4 why) private {
        vm.prank(sender);
        (bool done, bytes memory answer) = target.call(data);
        require(!done, "this was not refused");
        require(why == bytes4(0) || bytes4(answer) == why, "this was refused for another reason");
    }

    function testNonceAndDepositAddressAreThoseComputedElsewhere() external view {
        require(
            router.authorizationNonce(MEMO, MERCHANT, bytes32(uint256(27_675_277))) ==
                0xdb10e84acc6603fc6e4ccc5379ae002741914005499791e154a76139357d1a3f,
            "nonce"
        );
        require(router.depositAddress(MEMO, MERCHANT) == _depositAddress(MEMO, MERCHANT), "deposit address");
        require(router.depositAddress(MEMO, MERCHANT) != router.depositAddress(MEMO, stranger), "merchant");
    }

    function testMerchantsFromWhichNoMoneyCouldLeaveAreRefused() external {
        address payer = payers[0];
        address[4] memory refused = [address(0), address(router), address(token), address(router.depositImplementation())];
        for (uint256 i = 0; i < 4; ++i) {
            bytes4 why = PaymentRouter.InvalidMerchant.selector;
            _refused(payer, address(router), abi.encodeCall(router.pay, (MEMO, refused[i], 1)), why);
            _refused(payer, address(router), abi.encodeCall(router.sweep, (MEMO, refused[i])), why);
            _refused(payer, address(router), abi.encodeCall(router.recover, (MEMO, refused[i], address(other))), why);
        }
        _refused(payer, address(router), abi.encodeCall(router.pay, (0, MERCHANT, 1)), PaymentRouter.ZeroMemo.selector);
    }

    function testADepositAddressIsNoMerchant() external {
        address deposit = _depositAddress(MEMO, MERCHANT);
        token.mint(deposit, 100);
        router.sweep(MEMO, MERCHANT);
        bytes memory data = abi.encodeCall(router.pay, (MEMO, deposit, 1));
        _refused(payers[0], address(router), data, PaymentRouter.InvalidMerchant.selector);
        // What reached the deposit address of one is not locked in.
        token.mint(_depositAddress(MEMO, deposit), 10_000);
        router.sweep(MEMO, deposit);
        router.sweep(MEMO, MERCHANT);
        require(token.balanceOf(MERCHANT) == 99 + 9_801, "money is locked in");
    }

    function testDepositAddressesObeyTheirRouterAlone() external {
        token.mint(_depositAddress(MEMO, MERCHANT), 100);
        router.sweep(MEMO, MERCHANT);
        token.mint(_depositAddress(MEMO, MERCHANT), 100);
        address[2] memory targets = [_depositAddress(MEMO, MERCHANT), address(router.depositImplementation())];
        for (uint256 i = 0; i < 2; ++i) {
            bytes4 why = DepositAddress.NotRouter.selector;
            _refused(stranger, targets[i], abi.encodeCall(DepositAddress.release, (token, stranger, 1, stranger, 0)), why);
            _refused(stranger, targets[i], abi.encodeCall(DepositAddress.recover, (address(other), stranger)), why);
        }
    }

    function testTheFactoryObeysItsDeployerAlone() external {
        bytes memory initCode = abi.encodePacked(type(PaymentRouter).creationCode, abi.encode(1, stranger));
        bytes4 why = RouterFactory.NotDeployer.selector;
        _refused(stranger, address(factory), abi.encodeCall(factory.deploy, (0, initCode, token)), why);
        // The same address a second time.
        initCode = abi.encodePacked(type(PaymentRouter).creationCode, abi.encode(FEE_BPS, feeReceiver));
        _refused(address(this), address(factory), abi.encodeCall(factory.deploy, (0, initCode, other)), 0);
        factory.deploy(bytes32(uint256(1)), initCode, token);
        require(address(factory.token()) == address(0), "the factory still names a token");
    }

    function testFeesReceiversAndTokensThatCannotWorkAreRefused() external {
        Creator creator = new Creator(token);
        address next = vm.computeCreateAddress(address(creator), 1);
        address[4] memory refused = [address(0), next, address(token), vm.computeCreateAddress(next, 1)];
        for (uint256 i = 0; i < 4; ++i) {
            _refused(stranger, address(creator), abi.encodeCall(creator.create, (100, refused[i])), PaymentRouter.InvalidFeeReceiver.selector);
        }
        _refused(stranger, address(creator), abi.encodeCall(creator.create, (1_001, feeReceiver)), PaymentRouter.FeeTooHigh.selector);
        creator.create(1_000, feeReceiver);
        creator = new Creator(IERC20(stranger));
        _refused(stranger, address(creator), abi.encodeCall(creator.create, (100, feeReceiver)), PaymentRouter.InvalidToken.selector);
    }

    function testATokenThatTakesACutIsRefused() external {
        UnrulyToken unruly = new UnrulyToken(100);
        PaymentRouter its = new Creator(unruly).create(100, feeReceiver);
        unruly.mint(payers[0], 20_000);
        vm.prank(payers[0]);
        unruly.approve(address(its), 20_000);
        bytes4 why = PaymentRouter.ShortTransfer.selector;
        _refused(payers[0], address(its), abi.encodeCall(its.pay, (MEMO, MERCHANT, 10_000)), why);
        _refused(stranger, address(its), abi.encodeCall(its.payWithAuthorization, (MEMO, MERCHANT, 10_000, payers[0], 0, 0, 0, "")), why);
        // The router gets all of it, and the merchant does not.
        unruly.spare(address(its));
        _refused(stranger, address(its), abi.encodeCall(its.payWithAuthorization, (MEMO, MERCHANT, 10_000, payers[0], 0, 0, 0, "")), why);
        unruly.mint(its.depositAddress(MEMO, MERCHANT), 10_000);
        _refused(stranger, address(its), abi.encodeCall(its.sweep, (MEMO, MERCHANT)), why);
    }

    function testNothingCanBeEnteredAgainInTheMiddleOfAPayment() external {
        UnrulyToken unruly = new UnrulyToken(0);
        PaymentRouter its = new Creator(unruly).create(100, feeReceiver);
        unruly.mint(payers[0], 1e6);
        vm.prank(payers[0]);
        unruly.approve(address(its), 1e6);
        unruly.mint(its.depositAddress(MEMO, MERCHANT), 1_000);
        other.mint(its.depositAddress(MEMO, stranger), 1);
        bytes[4] memory inner = [
            abi.encodeCall(its.pay, (MEMO, stranger, 0)),
            abi.encodeCall(its.sweep, (MEMO, MERCHANT)),
            abi.encodeCall(its.recover, (MEMO, stranger, address(other))),
            abi.encodeCall(its.rescue, (address(unruly)))
        ];
        bytes4 why = bytes4(keccak256("ReentrancyGuardReentrantCall()"));
        for (uint256 i = 0; i < 4; ++i) {
            unruly.callBack(address(its), inner[i]);
            _refused(payers[0], address(its), abi.encodeCall(its.pay, (MEMO, MERCHANT, 1_000)), why);
            _refused(payers[0], address(its), abi.encodeCall(its.payWithPermit, (MEMO, MERCHANT, 1_000, 0, 0, 0, 0)), why);
            _refused(stranger, address(its), abi.encodeCall(its.sweep, (MEMO, MERCHANT)), why);
            // Here the payment is in the router for a moment.
            _refused(stranger, address(its), abi.encodeCall(its.payWithAuthorization, (MEMO, MERCHANT, 1_000, payers[0], 0, 0, 0, "")), why);
        }
    }

    function testTheNativeCoinIsNotRecoveredWhereItIsTheToken() external {
        NativeToken native = new NativeToken();
        PaymentRouter its = new Creator(IERC20(address(native))).create(100, feeReceiver);
        vm.deal(its.depositAddress(MEMO, MERCHANT), 1 ether);
        bytes memory data = abi.encodeCall(its.recover, (MEMO, MERCHANT, address(0)));
        _refused(stranger, address(its), data, PaymentRouter.NotRecoverable.selector);
    }

    function testThePaymentTokenIsNotRecovered() external {
        bytes memory data = abi.encodeCall(router.recover, (MEMO, MERCHANT, address(token)));
        _refused(stranger, address(router), data, PaymentRouter.NotRecoverable.selector);
        token.mint(_depositAddress(MEMO, MERCHANT), 100);
        _refused(stranger, address(router), data, PaymentRouter.NotRecoverable.selector);
    }

    function testABlockedFeeReceiverLocksNothingInAndNoFeeIsReported() external {
        address deposit = _depositAddress(MEMO, MERCHANT);
        token.mint(deposit, 10_000);
        token.setBlacklisted(feeReceiver, true);
        expected[deposit] = 10_000;
        vm.recordLogs();
        router.sweep(MEMO, MERCHANT);
        _book(vm.getRecordedLogs(), MEMO, MERCHANT, deposit, 10_000, 0);
        require(token.balanceOf(MERCHANT) == 10_000, "a deposit was locked in");
    }

    /// @dev Every limit up to the one that is enough: the fee is never skipped, and a batch is never left half done in silence.
    function testNoGasLimitSkipsAFeeOrADeposit() external {
        PaymentRouter.Deposit[] memory list = new PaymentRouter.Deposit[](2);
        list[0] = PaymentRouter.Deposit(MEMO, MERCHANT);
        list[1] = PaymentRouter.Deposit(memos[0], MERCHANT);
        bytes memory one = abi.encodeCall(router.sweep, (MEMO, MERCHANT));
        bytes memory both = abi.encodeCall(router.sweepMany, (list));
        uint256 succeeded;
        for (uint256 limit = 20_000; limit < 420_000; limit += 1_000) {
            succeeded += _swept(one, limit, 1);
            succeeded += _swept(both, limit, 2);
        }
        require(succeeded > 100, "no limit was enough");
    }

    /// @dev In one transaction everything is warm: little is used before the merchant's new balance is written, so that as much as possible is left
    /// behind when that runs out, five calls deep.
    function testABatchThatRunsOutOfGasDeepInsideFailsAsAWhole() external {
        token.mint(_depositAddress(MEMO, MERCHANT), 10_000);
        router.sweep(MEMO, MERCHANT);
        vm.prank(MERCHANT);
        token.transfer(stranger, 9_900);
        PaymentRouter.Deposit[] memory list = new PaymentRouter.Deposit[](1);
        list[0] = PaymentRouter.Deposit(MEMO, MERCHANT);
        bytes memory data = abi.encodeCall(router.sweepMany, (list));
        uint256 succeeded;
        for (uint256 limit = 10_000; limit < 80_000; limit += 50) succeeded += _swept(data, limit, 1);
        require(succeeded > 100, "no limit was enough");
    }

    /// @dev Sweeps as many deposits as there are, or none, and undoes it.
    function _swept(bytes memory data, uint256 limit, uint256 deposits) private returns (uint256) {
        try this.sweptAndUndone(data, limit, deposits) {
            revert("not undone");
        } catch (bytes memory outcome) {
            if (outcome.length != 32) revert(string(outcome));
            return abi.decode(outcome, (uint256));
        }
    }

    function sweptAndUndone(bytes memory data, uint256 limit, uint256 deposits) external {
        for (uint256 i = 0; i < deposits; ++i) token.mint(_depositAddress(i == 0 ? MEMO : memos[0], MERCHANT), 10_000);
        uint256 fees = token.balanceOf(feeReceiver);
        uint256 shares = token.balanceOf(MERCHANT);
        (bool done, ) = address(router).call{gas: limit}(data);
        string memory fault;
        if (done && token.balanceOf(feeReceiver) != fees + 100 * deposits) fault = "a limit skipped a fee or a deposit";
        if (done && token.balanceOf(MERCHANT) != shares + 9_900 * deposits) fault = "a limit moved something else";
        if (bytes(fault).length != 0) revert(fault);
        assembly {
            mstore(0, done)
            revert(0, 32)
        }
    }

    /// @dev Demands one log of an emitter with these topics and data.
    function _reported(address emitter, bytes32[4] memory topics, uint256 topicCount, bytes memory data) private {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint256 found;
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter != emitter || logs[i].topics[0] != topics[0]) continue;
            require(logs[i].topics.length == topicCount && keccak256(logs[i].data) == keccak256(data), "another event");
            for (uint256 n = 1; n < topicCount; ++n) require(logs[i].topics[n] == topics[n], "an event with another topic");
            ++found;
        }
        require(found == 1, "not reported once");
    }

    function _word(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }

    function testRecoveriesRescuesAndDeploymentsAreReported() external {
        other.mint(_depositAddress(MEMO, MERCHANT), 70);
        vm.recordLogs();
        router.recover(MEMO, MERCHANT, address(other));
        bytes32[4] memory topics = [PaymentRouter.Recovered.selector, MEMO, _word(MERCHANT), _word(address(other))];
        _reported(address(router), topics, 4, abi.encode(70));

        other.mint(address(router), 5);
        vm.recordLogs();
        router.rescue(address(other));
        _reported(address(router), [PaymentRouter.Rescued.selector, _word(address(other)), 0, 0], 2, abi.encode(5));

        bytes memory initCode = abi.encodePacked(type(PaymentRouter).creationCode, abi.encode(FEE_BPS, feeReceiver));
        vm.recordLogs();
        address made = factory.deploy(bytes32(uint256(1)), initCode, token);
        _reported(address(factory), [RouterFactory.Deployed.selector, _word(made), _word(address(token)), 0], 3, "");
    }

    function testStraysOfAnyKindAreRescued() external {
        other.mint(address(router), 5);
        vm.deal(address(router), 7);
        vm.prank(stranger);
        router.rescue(address(other));
        vm.prank(stranger);
        router.rescue(address(0));
        require(other.balanceOf(feeReceiver) == 5 && feeReceiver.balance == 7, "a stray was not rescued");
        _refused(stranger, address(router), abi.encodeCall(router.rescue, (address(0))), PaymentRouter.ZeroAmount.selector);
    }
}

/// @title A factory by plain CREATE, which makes addresses known that CREATE2 would make depend on themselves.
contract Creator {
    IERC20 public immutable token;

    constructor(IERC20 token_) {
        token = token_;
    }

    function create(uint256 feeBps, address feeReceiver) external returns (PaymentRouter) {
        return new PaymentRouter(feeBps, feeReceiver);
    }
}
