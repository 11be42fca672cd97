// Written by scripts/compile.mjs.

export const depositAddressAbi = [
  {"inputs":[],"stateMutability":"nonpayable","type":"constructor"},
  {"inputs":[],"name":"FailedCall","type":"error"},
  {"inputs":[{"internalType":"uint256","name":"balance","type":"uint256"},{"internalType":"uint256","name":"needed","type":"uint256"}],"name":"InsufficientBalance","type":"error"},
  {"inputs":[{"internalType":"address","name":"caller","type":"address"}],"name":"NotRouter","type":"error"},
  {"inputs":[{"internalType":"address","name":"token","type":"address"}],"name":"SafeERC20FailedOperation","type":"error"},
  {"inputs":[{"internalType":"address","name":"asset","type":"address"}],"name":"recover","outputs":[{"internalType":"uint256","name":"amount","type":"uint256"}],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"internalType":"contract IERC20","name":"token","type":"address"},{"internalType":"uint256","name":"amount","type":"uint256"},{"internalType":"address","name":"feeReceiver","type":"address"},{"internalType":"uint256","name":"fee","type":"uint256"}],"name":"release","outputs":[{"internalType":"uint256","name":"taken","type":"uint256"}],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[],"name":"router","outputs":[{"internalType":"address","name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"terms","outputs":[{"internalType":"bytes32","name":"memo","type":"bytes32"},{"internalType":"address","name":"merchant","type":"address"}],"stateMutability":"view","type":"function"},
] as const
