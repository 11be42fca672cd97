// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Create2} from "@openzeppelin/contracts/utils/Create2.sol";

/// @title Creates routers at addresses that are the same on every chain.
/// @notice A router's address follows from this factory's address, a salt and the router's init code, which holds its code,
/// fee and fee receiver. The token differs between chains, so the router asks for it during its construction.
/// @dev Whoever holds the deployer's key chooses the token on a chain where no router stands, and nothing else: other code,
/// another fee or another fee receiver give another address.
contract RouterFactory {
    /// @notice The only account that may deploy.
    address public immutable deployer;

    /// @notice The token for the router under construction. Zero outside of `deploy`.
    IERC20 public transient token;

    /// @notice A contract was created.
    /// @param router Where it stands.
    /// @param token The token that it was given.
    event Deployed(address indexed router, IERC20 indexed token);

    /// @notice The caller is not the deployer.
    /// @param caller Who called.
    error NotDeployer(address caller);

    /// @param deployer_ The only account that may deploy.
    constructor(address deployer_) {
        deployer = deployer_;
    }

    /// @notice Creates a contract by CREATE2. Reverts where one stands already.
    /// @param salt Tells apart routers of the same code and terms.
    /// @param initCode Creation code followed by the encoded constructor arguments.
    /// @param token_ What `token` answers during the construction.
    /// @return router Where the contract stands.
    function deploy(bytes32 salt, bytes calldata initCode, IERC20 token_) external returns (address router) {
        if (msg.sender != deployer) revert NotDeployer(msg.sender);
        token = token_;
        router = Create2.deploy(0, salt, initCode);
        token = IERC20(address(0));
        emit Deployed(router, token_);
    }
}
