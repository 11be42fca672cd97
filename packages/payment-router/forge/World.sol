// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {DepositAddress} from "../contracts/DepositAddress.sol";
import {PaymentRouter} from "../contracts/PaymentRouter.sol";
import {RouterFactory} from "../contracts/RouterFactory.sol";
import {TestUSDC} from "../contracts/TestUSDC.sol";
import {TestProxy} from "../contracts/test/TestProxy.sol";
import {vm, Vm} from "./Vm.sol";

/// @title A router, its token behind a proxy, everybody who has to do with them, and a ledger of what each must hold.
/// @dev The ledger is kept by the rules of the documentation, without asking the contracts.
abstract contract World {
    uint256 internal constant FEE_BPS = 100;
    uint256 internal constant FUNDS = 1e15;
    bytes32 private constant PAYMENT_RECEIVED = keccak256("PaymentReceived(bytes32,address,address,uint256,uint256)");
    bytes32 private constant TRANSFER = keccak256("Transfer(address,address,uint256)");

    TestUSDC public immutable token;
    TestUSDC public immutable other;
    RouterFactory public immutable factory;
    PaymentRouter public immutable router;
    address public immutable stranger = address(0xbad);
    address internal immutable feeReceiver = address(0xfee);

    uint256[4] internal keys = [uint256(0xa11ce), 0xb0b, 0xca401, 0xda4e];
    address[4] internal payers;
    address[4] internal merchants;
    bytes32[3] internal memos = [bytes32(uint256(1)), keccak256("memo"), bytes32(type(uint256).max)];

    /// @notice Everybody whose balance is known.
    address[] public accounts;
    mapping(address account => uint256) public expected;
    mapping(address account => uint256) public expectedOther;
    mapping(address account => uint256) public expectedNative;
    uint256 public paid;
    uint256 public reportedShares;
    uint256 public reportedFees;

    constructor() {
        vm.warp(1_795_000_000);
        token = TestUSDC(address(new TestProxy(address(new TestUSDC()), address(0xad))));
        other = new TestUSDC();
        factory = new RouterFactory(address(this));
        bytes memory initCode = abi.encodePacked(type(PaymentRouter).creationCode, abi.encode(FEE_BPS, feeReceiver));
        router = PaymentRouter(factory.deploy(0, initCode, token));
        for (uint256 i = 0; i < 4; ++i) payers[i] = vm.addr(keys[i]);
        // One merchant is a payer too, and one is the fee receiver.
        merchants = [address(0x1001), address(0x1002), payers[0], feeReceiver];
        for (uint256 i = 0; i < 4; ++i) _fund(i);
        for (uint256 i = 0; i < 4; ++i) if (merchants[i] != payers[0]) accounts.push(merchants[i]);
        for (uint256 i = 0; i < 12; ++i) accounts.push(_depositAddress(memos[i / 4], merchants[i % 4]));
        accounts.push(address(router));
        accounts.push(address(router.depositImplementation()));
        accounts.push(stranger);
    }

    function accountCount() external view returns (uint256) {
        return accounts.length;
    }

    /// @dev Half of the payers approve the router, half have to sign.
    function _fund(uint256 index) private {
        address payer = payers[index];
        token.mint(payer, FUNDS);
        expected[payer] = FUNDS;
        accounts.push(payer);
        vm.prank(payer);
        if (index < 2) token.approve(address(router), type(uint256).max);
    }

    /// @dev By EIP-1167 and CREATE2, without asking the router.
    function _depositAddress(bytes32 memo, address merchant) internal view returns (address) {
        bytes memory code = abi.encodePacked(
            hex"3d602d80600a3d3981f3363d3d373d3d3d363d73",
            vm.computeCreateAddress(address(router), 1),
            hex"5af43d82803e903d91602b57fd5bf3"
        );
        bytes32 salt = keccak256(abi.encodePacked(memo, bytes12(0), merchant));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), router, salt, keccak256(code))))));
    }

    function _feeOf(uint256 amount) internal pure returns (uint256) {
        return amount / (10_000 / FEE_BPS);
    }

    function _isBlocked(address account) internal view returns (bool) {
        return token.isBlacklisted(account);
    }

    function _call(address sender, bytes memory data, uint256 gasLimit) internal returns (bool done, bytes memory answer) {
        vm.recordLogs();
        vm.prank(sender);
        (done, answer) = address(router).call{gas: gasLimit}(data);
    }

    /// @dev Enters a payment into the ledger and compares the transaction's logs with it.
    function _book(Vm.Log[] memory logs, bytes32 memo, address merchant, address from, uint256 amount, uint256 fee) internal {
        expected[from] -= amount;
        expected[merchant] += amount - fee;
        expected[feeReceiver] += fee;
        paid += amount;
        uint256 events;
        uint256 toMerchant;
        uint256 toFeeReceiver;
        for (uint256 i = 0; i < logs.length; ++i) {
            Vm.Log memory log = logs[i];
            if (log.emitter == address(router) && log.topics[0] == PAYMENT_RECEIVED) {
                if (log.topics[1] != memo || _account(log.topics[2]) != merchant || _account(log.topics[3]) != from) continue;
                (uint256 share, uint256 reported) = abi.decode(log.data, (uint256, uint256));
                if (share + reported != amount) continue;
                require(reported == fee, "the reported fee is not what was due");
                reportedShares += share;
                reportedFees += reported;
                ++events;
            } else if (log.emitter == address(token) && log.topics[0] == TRANSFER) {
                uint256 value = abi.decode(log.data, (uint256));
                if (_account(log.topics[2]) == merchant) toMerchant += value;
                else if (_account(log.topics[2]) == feeReceiver) toFeeReceiver += value;
            }
        }
        require(events >= 1, "a payment was not reported");
        require(toMerchant >= amount - fee, "the merchant's transfer is not what was reported");
        if (merchant != feeReceiver) require(toFeeReceiver >= fee, "the fee's transfer is not what was reported");
    }

    function _account(bytes32 topic) private pure returns (address) {
        return address(uint160(uint256(topic)));
    }

    function _bound(uint256 seed, uint256 min, uint256 max) internal pure returns (uint256) {
        return min + (seed % (max - min + 1));
    }

    function _signed(uint256 key, bytes32 typed) internal view returns (uint8 v, bytes32 r, bytes32 s) {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("USD Coin"),
                keccak256("2"),
                block.chainid,
                token
            )
        );
        return vm.sign(key, keccak256(abi.encodePacked(hex"1901", domain, typed)));
    }
}
