// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title A stand-in for Chainlink's BRL / USD feed on local chains: dollars per real, eight decimals.
/// @notice Anyone may set it. Never deploy it where money is real.
contract TestRateFeed {
    uint8 public constant decimals = 8;
    string public constant description = "BRL / USD";
    uint256 public constant version = 1;

    int256 private answer;
    uint256 private updatedAt;
    uint80 private round;

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    constructor(int256 answer_) {
        set(answer_, 0);
    }

    /// @notice `updatedAt_` zero means always fresh, for a chain on which nobody feeds prices.
    function set(int256 answer_, uint256 updatedAt_) public {
        answer = answer_;
        updatedAt = updatedAt_;
        round += 1;
        emit AnswerUpdated(answer_, round, updatedAt_);
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer_, uint256 startedAt, uint256 updatedAt_, uint80 answeredInRound)
    {
        uint256 time = updatedAt == 0 ? block.timestamp : updatedAt;
        return (round, answer, time, time, round);
    }
}
