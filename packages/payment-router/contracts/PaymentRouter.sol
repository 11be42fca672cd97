// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {DepositAddress} from "./DepositAddress.sol";
import {IERC3009} from "./IERC3009.sol";

/// @title Splits a token payment between a merchant and the platform, and says which memo it was for.
/// @notice Nobody owns it and nothing in it can change: token, fee and fee receiver are fixed at deployment, and a new fee
/// is a new router. It keeps no money and remembers no memo, so nobody can block a memo by paying it first.
contract PaymentRouter is ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    uint256 public constant MAX_FEE_BPS = 1_000;

    IERC20 public immutable token;
    uint256 public immutable feeBps;
    address public immutable feeReceiver;
    /// @notice What every deposit address is a clone of.
    DepositAddress public immutable depositImplementation;

    struct Deposit {
        bytes32 memo;
        address merchant;
    }

    event PaymentReceived(
        bytes32 indexed memo,
        address indexed merchant,
        address indexed payer,
        uint256 merchantShare,
        uint256 fee
    );

    /// @notice Something other than a payment left a deposit address for its merchant. `asset` is zero for the native coin.
    event Recovered(bytes32 indexed memo, address indexed merchant, address indexed asset, uint256 amount);

    error InvalidToken(address token);
    error InvalidFeeReceiver(address feeReceiver);
    error FeeTooHigh(uint256 feeBps);
    error ZeroMemo();
    error ZeroAmount();
    error InvalidMerchant(address merchant);
    error ShortTransfer(uint256 expected, uint256 received);
    error NotRecoverable(address asset);
    error OutOfGas();

    constructor(IERC20 token_, uint256 feeBps_, address feeReceiver_) {
        if (address(token_).code.length == 0) revert InvalidToken(address(token_));
        if (feeBps_ > MAX_FEE_BPS) revert FeeTooHigh(feeBps_);
        if (feeReceiver_ == address(0) || feeReceiver_ == address(this)) revert InvalidFeeReceiver(feeReceiver_);
        token = token_;
        feeBps = feeBps_;
        feeReceiver = feeReceiver_;
        depositImplementation = new DepositAddress();
    }

    /// @notice Pays from the caller's balance, which must have approved this router for `amount`.
    function pay(bytes32 memo, address merchant, uint256 amount) external nonReentrant {
        _payFromCaller(memo, merchant, amount);
    }

    /// @notice Approves by the caller's EIP-2612 signature and pays, in one transaction.
    /// @dev Always the caller's own permit: it names this router and an amount but no merchant, so anyone else who held it
    /// could send the money to himself. A permit that a stranger submitted first has done its work; the allowance decides.
    function payWithPermit(
        bytes32 memo,
        address merchant,
        uint256 amount,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external nonReentrant {
        try IERC20Permit(address(token)).permit(msg.sender, address(this), amount, deadline, v, r, s) {} catch {}
        _payFromCaller(memo, merchant, amount);
    }

    /// @notice Pays from `payer`'s balance by an EIP-3009 authorisation that anyone may submit, so the payer needs no gas.
    /// @dev The authorisation's nonce must be `paymentKey(memo, merchant)` and its recipient this router: the payer has then
    /// signed memo, merchant and amount, and whoever submits it can redirect nothing.
    function payWithAuthorization(
        bytes32 memo,
        address merchant,
        uint256 amount,
        address payer,
        uint256 validAfter,
        uint256 validBefore,
        bytes calldata signature
    ) external nonReentrant {
        _collect(payer, amount, validAfter, validBefore, paymentKey(memo, merchant), signature);
        _payFromRouter(memo, merchant, payer, amount);
    }

    /// @notice Pays whatever the deposit address of (memo, merchant) holds, as often as money arrives. Anyone may call it.
    /// @return amount What was swept, fee included.
    function sweep(bytes32 memo, address merchant) public nonReentrant returns (uint256 amount) {
        address deposit = depositAddress(memo, merchant);
        amount = token.balanceOf(deposit);
        (uint256 share, uint256 fee) = _terms(memo, merchant, amount);
        _deploy(deposit, memo, merchant);

        uint256 balance = token.balanceOf(merchant);
        fee = DepositAddress(deposit).release(token, amount, feeReceiver, fee);
        share = amount - fee;
        _requireGrowth(merchant, balance, share);
        emit PaymentReceived(memo, merchant, deposit, share, fee);
    }

    /// @notice Sweeps many. One that is empty or fails does not stop the others.
    /// @return amounts What was swept of each, zero where nothing was.
    function sweepMany(Deposit[] calldata deposits) external returns (uint256[] memory amounts) {
        amounts = new uint256[](deposits.length);
        for (uint256 i = 0; i < deposits.length; ++i) {
            uint256 gas = gasleft();
            try this.sweep(deposits[i].memo, deposits[i].merchant) returns (uint256 amount) {
                amounts[i] = amount;
            } catch {
                // Each of the calls inside leaves a 64th of its gas behind when it runs out. That is no fault of the deposit, and
                // whoever estimates the gas of this call must not find a limit at which the last deposits quietly fail.
                if (gasleft() < gas / 8) revert OutOfGas();
            }
        }
    }

    /// @notice Sends what reached a deposit address by mistake, another token or (asset zero) the native coin, to its merchant
    /// and nowhere else. Anyone may call it.
    function recover(bytes32 memo, address merchant, address asset) external nonReentrant returns (uint256 amount) {
        if (asset == address(token)) revert NotRecoverable(asset);
        _requireKey(memo, merchant);
        address deposit = depositAddress(memo, merchant);
        _deploy(deposit, memo, merchant);
        amount = DepositAddress(deposit).recover(asset);
        if (amount == 0) revert ZeroAmount();
        emit Recovered(memo, merchant, asset, amount);
    }

    /// @notice What a payment of `amount` leaves to the merchant and to the platform; the fee is rounded down.
    function split(uint256 amount) public view returns (uint256 share, uint256 fee) {
        fee = (amount * feeBps) / 10_000;
        share = amount - fee;
    }

    /// @notice Names one merchant's memo: the nonce of an authorisation and the salt of a deposit address.
    function paymentKey(bytes32 memo, address merchant) public pure returns (bytes32) {
        return keccak256(abi.encode(memo, merchant));
    }

    /// @notice Where a plain transfer pays (memo, merchant), whether or not anything is deployed there yet.
    function depositAddress(bytes32 memo, address merchant) public view returns (address) {
        return
            Clones.predictDeterministicAddressWithImmutableArgs(
                address(depositImplementation),
                abi.encode(memo, merchant),
                paymentKey(memo, merchant)
            );
    }

    function _payFromCaller(bytes32 memo, address merchant, uint256 amount) private {
        (uint256 share, uint256 fee) = _terms(memo, merchant, amount);
        uint256 balance = token.balanceOf(merchant);
        if (fee != 0) token.safeTransferFrom(msg.sender, feeReceiver, fee);
        token.safeTransferFrom(msg.sender, merchant, share);
        // A merchant who pays himself ends with the fee less, not the share more.
        if (merchant != msg.sender) _requireGrowth(merchant, balance, share);
        emit PaymentReceived(memo, merchant, msg.sender, share, fee);
    }

    function _collect(
        address payer,
        uint256 amount,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) private {
        uint256 balance = token.balanceOf(address(this));
        IERC3009(address(token)).receiveWithAuthorization(payer, address(this), amount, validAfter, validBefore, nonce, signature);
        _requireGrowth(address(this), balance, amount);
    }

    function _payFromRouter(bytes32 memo, address merchant, address payer, uint256 amount) private {
        (uint256 share, uint256 fee) = _terms(memo, merchant, amount);
        uint256 balance = token.balanceOf(merchant);
        if (fee != 0) token.safeTransfer(feeReceiver, fee);
        token.safeTransfer(merchant, share);
        _requireGrowth(merchant, balance, share);
        emit PaymentReceived(memo, merchant, payer, share, fee);
    }

    function _terms(bytes32 memo, address merchant, uint256 amount) private view returns (uint256 share, uint256 fee) {
        _requireKey(memo, merchant);
        if (amount == 0) revert ZeroAmount();
        return split(amount);
    }

    function _requireKey(bytes32 memo, address merchant) private view {
        if (memo == 0) revert ZeroMemo();
        if (merchant == address(0) || merchant == address(this)) revert InvalidMerchant(merchant);
    }

    /// @dev A token that takes a cut of its transfers would otherwise be announced as more than arrived.
    function _requireGrowth(address account, uint256 before, uint256 amount) private view {
        uint256 received = token.balanceOf(account) - before;
        if (received < amount) revert ShortTransfer(amount, received);
    }

    function _deploy(address deposit, bytes32 memo, address merchant) private {
        if (deposit.code.length != 0) return;
        Clones.cloneDeterministicWithImmutableArgs(
            address(depositImplementation),
            abi.encode(memo, merchant),
            paymentKey(memo, merchant)
        );
    }
}
