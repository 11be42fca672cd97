// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Payments} from "./Payments.sol";

/// @title What holds after any sequence of payments, deposits, sweeps, strays, blocks and pauses.
contract RouterInvariants {
    Payments private payments;

    function setUp() external {
        payments = new Payments();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(payments);
    }

    function invariant_everyBalanceIsWhatWasSigned() external view {
        for (uint256 i = 0; i < payments.accountCount(); ++i) {
            address account = payments.accounts(i);
            require(payments.token().balanceOf(account) == payments.expected(account), "a balance is not what was signed");
            require(payments.other().balanceOf(account) == payments.expectedOther(account), "another token went astray");
            require(account.balance == payments.expectedNative(account), "native coin went astray");
        }
    }

    function invariant_whatCameInIsSharesAndFees() external view {
        require(payments.paid() == payments.reportedShares() + payments.reportedFees(), "payments are not shares and fees");
    }

    function invariant_theRouterKeepsStraysOnly() external view {
        address router = address(payments.router());
        require(payments.token().balanceOf(router) == payments.expected(router), "the router kept a payment");
        require(payments.token().balanceOf(address(payments.router().depositImplementation())) == 0, "money is locked in");
    }

    function invariant_aStrangerEndsWithNothing() external view {
        require(payments.token().balanceOf(payments.stranger()) == 0, "a stranger got something");
        require(payments.factory().deployer() == address(payments), "a stranger deploys");
    }
}
