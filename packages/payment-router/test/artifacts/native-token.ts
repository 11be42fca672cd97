// Written by scripts/compile.mjs.

export const nativeTokenAbi = [
  {"inputs":[{"internalType":"address","name":"account","type":"address"}],"name":"balanceOf","outputs":[{"internalType":"uint256","name":"","type":"uint256"}],"stateMutability":"view","type":"function"},
] as const

export const nativeTokenBytecode = '0x6080604052348015600e575f5ffd5b5060e58061001b5f395ff3fe6080604052348015600e575f5ffd5b50600436106026575f3560e01c806370a0823114602a575b5f5ffd5b603960353660046076565b604b565b60405190815260200160405180910390f35b5f607064e8d4a5100073ffffffffffffffffffffffffffffffffffffffff84163160ae565b92915050565b5f602082840312156085575f5ffd5b813573ffffffffffffffffffffffffffffffffffffffff8116811460a7575f5ffd5b9392505050565b5f8260e0577f4e487b71000000000000000000000000000000000000000000000000000000005f52601260045260245ffd5b50049056'
