// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {DepositAddress} from "./DepositAddress.sol";
import {IERC3009} from "./IERC3009.sol";
import {RouterFactory} from "./RouterFactory.sol";

/// @title Splits a token payment between a merchant and the platform, and emits the memo it was for.
/// @notice It has no owner and nothing in it can change: token, fee and fee receiver are fixed at deployment, and a new fee
/// is a new router. It keeps no money and marks no memo as paid, so no payment can block a memo.
contract PaymentRouter is ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice The highest fee that a router can be created with, in basis points.
    uint256 public constant MAX_FEE_BPS = 1_000;

    /// @notice The token that payments are made in.
    IERC20 public immutable token;
    /// @notice The platform's part of each payment, in basis points.
    uint256 public immutable feeBps;
    /// @notice Where the platform's part goes.
    address public immutable feeReceiver;
    /// @notice What every deposit address is a clone of.
    DepositAddress public immutable depositImplementation;
    /// @notice The code hash of every deposit address that was deployed.
    bytes32 public immutable depositCodeHash;

    /// @notice Names one deposit address.
    /// @param memo The order's memo.
    /// @param merchant Who is paid.
    struct Deposit {
        bytes32 memo;
        address merchant;
    }

    /// @notice A payment was split: `merchantShare` went to `merchant` and `fee` to the fee receiver.
    /// @param memo The order's memo.
    /// @param merchant Who was paid.
    /// @param payer Who paid. The deposit address when a deposit was swept.
    /// @param merchantShare The merchant's part in token units.
    /// @param fee The platform's part in token units.
    event PaymentReceived(
        bytes32 indexed memo,
        address indexed merchant,
        address indexed payer,
        uint256 merchantShare,
        uint256 fee
    );

    /// @notice Something other than a payment left a deposit address for its merchant.
    /// @param memo The order's memo.
    /// @param merchant Who received it.
    /// @param asset A token, or zero for the native coin.
    /// @param amount How much, in the asset's units.
    event Recovered(bytes32 indexed memo, address indexed merchant, address indexed asset, uint256 amount);

    /// @notice Something that was sent to this router by mistake went to the fee receiver.
    /// @param asset A token, or zero for the native coin.
    /// @param amount How much, in the asset's units.
    event Rescued(address indexed asset, uint256 amount);

    /// @notice There is no contract at the token's address.
    /// @param token The refused address.
    error InvalidToken(address token);
    /// @notice The fee receiver is zero, the token, this router or its implementation.
    /// @param feeReceiver The refused address.
    error InvalidFeeReceiver(address feeReceiver);
    /// @notice The fee is above `MAX_FEE_BPS`.
    /// @param feeBps The refused fee.
    error FeeTooHigh(uint256 feeBps);
    /// @notice The memo is zero.
    error ZeroMemo();
    /// @notice There is nothing to pay, sweep, recover or rescue.
    error ZeroAmount();
    /// @notice The merchant is zero, the token, this router, its implementation or one of its deposit addresses.
    /// @param merchant The refused address.
    error InvalidMerchant(address merchant);
    /// @notice Less arrived than was sent.
    /// @param expected What was sent.
    /// @param received What arrived.
    error ShortTransfer(uint256 expected, uint256 received);
    /// @notice Recovering this asset would take the payment token.
    /// @param asset The refused asset.
    error NotRecoverable(address asset);
    /// @notice The transaction's gas was too little for the whole batch.
    error OutOfGas();

    /// @param feeBps_ The platform's part in basis points, at most `MAX_FEE_BPS`.
    /// @param feeReceiver_ Where the platform's part goes.
    constructor(uint256 feeBps_, address feeReceiver_) {
        IERC20 token_ = RouterFactory(msg.sender).token();
        DepositAddress implementation = new DepositAddress();
        if (address(token_).code.length == 0) revert InvalidToken(address(token_));
        if (feeBps_ > MAX_FEE_BPS) revert FeeTooHigh(feeBps_);
        if (
            feeReceiver_ == address(0) ||
            feeReceiver_ == address(this) ||
            feeReceiver_ == address(token_) ||
            feeReceiver_ == address(implementation)
        ) revert InvalidFeeReceiver(feeReceiver_);
        token = token_;
        feeBps = feeBps_;
        feeReceiver = feeReceiver_;
        depositImplementation = implementation;
        // The code that `Clones` deploys: EIP-1167.
        depositCodeHash = keccak256(
            abi.encodePacked(hex"363d3d373d3d3d363d73", implementation, hex"5af43d82803e903d91602b57fd5bf3")
        );
    }

    /// @notice Pays from the caller's balance. The caller must have approved this router for `amount`.
    /// @param memo The order's memo.
    /// @param merchant Who is paid.
    /// @param amount What is paid, fee included, in token units.
    function pay(bytes32 memo, address merchant, uint256 amount) external nonReentrant {
        _payFromCaller(memo, merchant, amount);
    }

    /// @notice Approves by the caller's EIP-2612 signature and pays, in one transaction.
    /// @dev Always the caller's own permit: it names this router and an amount but no merchant, so anyone else who held it
    /// could send the money elsewhere. A permit that a stranger submitted first has done its work; the allowance decides.
    /// @param memo The order's memo.
    /// @param merchant Who is paid.
    /// @param amount What is paid, fee included, in token units.
    /// @param deadline Until when the permit is valid, in Unix seconds.
    /// @param v The signature's recovery value.
    /// @param r The signature's first word.
    /// @param s The signature's second word.
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

    /// @notice Pays from `payer`'s balance by an EIP-3009 authorization that anyone may submit, so the payer needs no gas.
    /// @dev The authorization's nonce must be `authorizationNonce(memo, merchant, salt)` and its recipient this router: the
    /// payer has then signed memo, merchant and amount, and the submitter can redirect nothing.
    /// @param memo The order's memo.
    /// @param merchant Who is paid.
    /// @param amount What is paid, fee included, in token units.
    /// @param payer Who signed and pays.
    /// @param validAfter The block's time must be later; Unix seconds.
    /// @param validBefore The block's time must be earlier; Unix seconds.
    /// @param salt Chosen by the payer, another one for each payment of the same order.
    /// @param signature 65 bytes of a key, or whatever a contract wallet accepts by ERC-1271.
    function payWithAuthorization(
        bytes32 memo,
        address merchant,
        uint256 amount,
        address payer,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 salt,
        bytes calldata signature
    ) external nonReentrant {
        _collect(payer, amount, validAfter, validBefore, authorizationNonce(memo, merchant, salt), signature);
        _payFromRouter(memo, merchant, payer, amount);
    }

    /// @notice Pays whatever the deposit address of (memo, merchant) holds, as often as money arrives. Anyone may call it.
    /// @param memo The order's memo.
    /// @param merchant Who is paid.
    /// @return amount What was swept, fee included.
    function sweep(bytes32 memo, address merchant) public nonReentrant returns (uint256 amount) {
        _requireTerms(memo, merchant);
        address deposit = depositAddress(memo, merchant);
        amount = token.balanceOf(deposit);
        (, uint256 fee) = _split(amount);
        _deploy(deposit, memo, merchant);

        uint256 balance = token.balanceOf(merchant);
        fee = DepositAddress(deposit).release(token, merchant, amount, feeReceiver, fee);
        uint256 share = amount - fee;
        _requireGrowth(merchant, balance, share);
        emit PaymentReceived(memo, merchant, deposit, share, fee);
    }

    /// @notice Sweeps many. One that is empty or fails does not stop the others.
    /// @param deposits The deposit addresses, each by memo and merchant.
    /// @return amounts What was swept of each, zero where nothing was.
    function sweepMany(Deposit[] calldata deposits) external returns (uint256[] memory amounts) {
        amounts = new uint256[](deposits.length);
        for (uint256 i = 0; i < deposits.length; ++i) {
            uint256 gas = gasleft();
            try this.sweep(deposits[i].memo, deposits[i].merchant) returns (uint256 amount) {
                amounts[i] = amount;
            } catch {
                // Each of the calls inside leaves a 64th of its gas behind when it runs out. That is no fault of the deposit,
                // and an estimate of this call's gas must not settle on a limit at which the last deposits quietly fail.
                if (gasleft() < gas / 8) revert OutOfGas();
            }
        }
    }

    /// @notice Sends what reached a deposit address by mistake to its merchant and nowhere else. Anyone may call it.
    /// @dev Never the payment token, also where that is the chain's native coin or answers at two addresses: it would reach
    /// the merchant without a fee and without an event that says whose payment it was.
    /// @param memo The order's memo.
    /// @param merchant Whose deposit address it is.
    /// @param asset A token other than the payment token, or zero for the native coin.
    /// @return amount What was sent.
    function recover(bytes32 memo, address merchant, address asset) external nonReentrant returns (uint256 amount) {
        if (asset == address(token)) revert NotRecoverable(asset);
        _requireTerms(memo, merchant);
        address deposit = depositAddress(memo, merchant);
        _deploy(deposit, memo, merchant);
        uint256 balance = token.balanceOf(deposit);
        amount = DepositAddress(deposit).recover(asset, merchant);
        if (amount == 0) revert ZeroAmount();
        if (token.balanceOf(deposit) < balance) revert NotRecoverable(asset);
        emit Recovered(memo, merchant, asset, amount);
    }

    /// @notice Sends what was sent to this router by mistake to the fee receiver. Anyone may call it.
    /// @dev A payment is in this router within one guarded call only, so all that can be found here is a stray.
    /// @param asset Any token, or zero for the native coin.
    /// @return amount What was sent.
    function rescue(address asset) external nonReentrant returns (uint256 amount) {
        amount = asset == address(0) ? address(this).balance : IERC20(asset).balanceOf(address(this));
        if (amount == 0) revert ZeroAmount();
        if (asset == address(0)) Address.sendValue(payable(feeReceiver), amount);
        else IERC20(asset).safeTransfer(feeReceiver, amount);
        emit Rescued(asset, amount);
    }

    /// @notice What a payment leaves to the merchant and to the platform. The fee is rounded down.
    /// @param amount What is paid, in token units.
    /// @return share The merchant's part.
    /// @return fee The platform's part.
    function split(uint256 amount) public view returns (uint256 share, uint256 fee) {
        fee = (amount * feeBps) / 10_000;
        share = amount - fee;
    }

    /// @notice The nonce that an EIP-3009 authorization for `payWithAuthorization` must carry.
    /// @param memo The order's memo.
    /// @param merchant Who is paid.
    /// @param salt Chosen by the payer, another one for each payment of the same order.
    /// @return The nonce.
    function authorizationNonce(bytes32 memo, address merchant, bytes32 salt) public pure returns (bytes32) {
        return keccak256(abi.encode(memo, merchant, salt));
    }

    /// @notice Where a plain transfer pays (memo, merchant), whether or not anything is deployed there yet.
    /// @param memo The order's memo.
    /// @param merchant Who is paid.
    /// @return The deposit address.
    function depositAddress(bytes32 memo, address merchant) public view returns (address) {
        return Clones.predictDeterministicAddress(address(depositImplementation), _depositSalt(memo, merchant));
    }

    function _payFromCaller(bytes32 memo, address merchant, uint256 amount) private {
        (uint256 share, uint256 fee) = _paymentTerms(memo, merchant, amount);
        uint256 balance = token.balanceOf(merchant);
        if (fee != 0) token.safeTransferFrom(msg.sender, feeReceiver, fee);
        token.safeTransferFrom(msg.sender, merchant, share);
        // A merchant that pays itself ends with the fee less, not the share more.
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
        (uint256 share, uint256 fee) = _paymentTerms(memo, merchant, amount);
        uint256 balance = token.balanceOf(merchant);
        if (fee != 0) token.safeTransfer(feeReceiver, fee);
        token.safeTransfer(merchant, share);
        _requireGrowth(merchant, balance, share);
        emit PaymentReceived(memo, merchant, payer, share, fee);
    }

    /// @dev A payment to a deployed deposit address would pay the fee twice, and its payer can still choose the right merchant.
    /// A sweep to one goes on: the money is already at its deposit address, and refusing would lock it in.
    function _paymentTerms(bytes32 memo, address merchant, uint256 amount) private view returns (uint256 share, uint256 fee) {
        _requireTerms(memo, merchant);
        if (merchant.codehash == depositCodeHash) revert InvalidMerchant(merchant);
        return _split(amount);
    }

    function _split(uint256 amount) private view returns (uint256 share, uint256 fee) {
        if (amount == 0) revert ZeroAmount();
        return split(amount);
    }

    function _requireTerms(bytes32 memo, address merchant) private view {
        if (memo == 0) revert ZeroMemo();
        if (
            merchant == address(0) ||
            merchant == address(this) ||
            merchant == address(token) ||
            merchant == address(depositImplementation)
        ) revert InvalidMerchant(merchant);
    }

    /// @dev A token that takes a cut of its transfers would otherwise be reported as more than arrived.
    function _requireGrowth(address account, uint256 before, uint256 amount) private view {
        uint256 received = token.balanceOf(account) - before;
        if (received < amount) revert ShortTransfer(amount, received);
    }

    function _deploy(address deposit, bytes32 memo, address merchant) private {
        if (deposit.code.length != 0) return;
        Clones.cloneDeterministic(address(depositImplementation), _depositSalt(memo, merchant));
    }

    function _depositSalt(bytes32 memo, address merchant) private pure returns (bytes32) {
        return keccak256(abi.encode(memo, merchant));
    }
}
