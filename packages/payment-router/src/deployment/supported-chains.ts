import { arbitrum, avalanche, type ChainProfile, development, ethereum, opStack, polygon } from './chain-profile'

export interface SupportedChain {
  name: string
  /** Circle's native USDC. */
  usdcAddress: string
  profile: ChainProfile
  /** Money on it is worth nothing. */
  isTestNet: boolean
}

const mainNet = (name: string, profile: ChainProfile, usdcAddress: string): SupportedChain => ({
  ...{ name, profile, usdcAddress },
  isTestNet: false,
})
const testNet = (name: string, profile: ChainProfile, usdcAddress: string): SupportedChain => ({
  ...{ name, profile, usdcAddress },
  isTestNet: true,
})

/**
 * By chain id. A chain belongs here when it runs the Cancun opcodes, derives addresses as Ethereum does and has Circle's native USDC of six
 * decimals, which must not be the chain's own coin. docs/threat-model.md names those left out, with the reasons.
 */
export const supportedChains: Readonly<Record<number, SupportedChain>> = {
  1: mainNet('Ethereum', ethereum, '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'),
  10: mainNet('OP Mainnet', opStack, '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'),
  137: mainNet('Polygon', polygon, '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'),
  8453: mainNet('Base', opStack, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
  42161: mainNet('Arbitrum One', arbitrum, '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'),
  43114: mainNet('Avalanche', avalanche, '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E'),
  43113: testNet('Avalanche Fuji', avalanche, '0x5425890298aed601595a70AB815c96711a31Bc65'),
  80002: testNet('Polygon Amoy', polygon, '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582'),
  84532: testNet('Base Sepolia', opStack, '0x036CbD53842c5426634e7929541eC2318f3dCF7e'),
  421614: testNet('Arbitrum Sepolia', arbitrum, '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d'),
  11155111: testNet('Sepolia', ethereum, '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238'),
  11155420: testNet('OP Sepolia', opStack, '0x5fd84259d66Cd46123540766Be93DFE6D43130D7'),
}

/** Of a supported chain, or of a developer's own. */
export const profileOf = (chainId: number): ChainProfile => supportedChains[chainId]?.profile ?? development

/** Seconds in which a chain usually makes so many blocks. */
export const typicalSeconds = (chainId: number, blocks: number): number => Math.ceil((blocks * profileOf(chainId).blockMs) / 1_000)

/** A payer's fee in usual hours is less than so many dollars; null where the network's coin is worth nothing. */
export function usualFeeUsd(chainId: number): string | null {
  const chain = supportedChains[chainId]
  return chain && !chain.isTestNet ? chain.profile.usualFeeUsd : null
}
