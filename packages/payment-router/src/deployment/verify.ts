import { randomBytes } from 'node:crypto'
import { getAddress, hexlify, Interface, isError, TypedDataEncoder, ZeroHash } from 'ethers'
import { paymentRouterAbi } from '../artifacts/payment-router'
import { testUsdcAbi } from '../artifacts/test-usdc'
import { depositAddress, depositImplementation } from '../deposit-address'
import { implementationCode, routerCode } from './runtime-code'
import { type Answer, type ChainReader, probe } from './state-probe'
import { supportedChains } from './supported-chains'

export interface ExpectedDeployment {
  chainId: number
  usdcAddress: string
  routerAddress: string
  /** Basis points, or those that will do; whatever the router answers when it is not given. */
  feeBps?: number | readonly number[] | undefined
  /** Where the fee may go; anywhere when it is not given. */
  feeReceivers?: readonly string[] | undefined
  /** The chain is a developer's own: it need not be on the list of supported chains, and must not be a main net. */
  development: boolean
}

/** The chain's contract is not the configured one. `differences` has a sentence for each. */
export class DeploymentMismatchError extends Error {
  override name = 'DeploymentMismatchError'

  constructor(
    chainId: number,
    readonly differences: readonly string[],
  ) {
    super(`chain ${chainId} is not as configured: ${differences.join('; ')}`)
  }
}

/** Stores and loads transient storage and copies memory; answers one. */
const CANCUN_PROBE = '0x60015f5d5f5c5f5260205f60205e60206020f3'
const ONE = ZeroHash.replace(/0$/, '1')

const router = new Interface(paymentRouterAbi)
const usdc = new Interface(testUsdcAbi)

const isSame = (one: unknown, other: string) => String(one).toLowerCase() === other.toLowerCase()

type ExpectedToken = Omit<ExpectedDeployment, 'routerAddress'>

const nodeDifferences = (found: bigint, chainId: number) => (found === BigInt(chainId) ? [] : [`the node is of chain ${found}`])

function chainDifferences({ chainId, usdcAddress, development }: ExpectedToken): string[] {
  const listed = supportedChains[chainId]
  if (development) return listed && !listed.isTestNet ? [`${listed.name} is a main net, not a development chain`] : []
  if (listed === undefined) return ['it is not on the list of supported chains, and was not declared a development chain']
  return isSame(listed.usdcAddress, usdcAddress) ? [] : [`USDC on ${listed.name} is ${listed.usdcAddress}, not ${usdcAddress}`]
}

async function opcodeDifferences(reader: ChainReader): Promise<string[]> {
  const missing = 'it does not run the opcodes of Cancun (TSTORE, TLOAD, MCOPY)'
  try {
    return (await reader.call({ data: CANCUN_PROBE })) === ONE ? [] : [missing]
  } catch (error) {
    // Only a node's refusal is a fact about the chain. Anything else is for the caller, who can try again.
    if (isError(error, 'CALL_EXCEPTION') || /opcode|not activated/i.test(String(error))) return [missing]
    throw error
  }
}

const tokenQuestions = (target: string) => {
  const forged = [target, target, 1n, 0n, 2n ** 64n, ZeroHash, `0x${'1b'.repeat(65)}`]
  return {
    decimals: { target, of: usdc, method: 'decimals' },
    name: { target, of: usdc, method: 'name' },
    version: { target, of: usdc, method: 'version' },
    domain: { target, of: usdc, method: 'DOMAIN_SEPARATOR' },
    receive: {
      target,
      of: usdc,
      method: 'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
      values: forged,
    },
  }
}
type TokenAnswers = Record<keyof ReturnType<typeof tokenQuestions>, Answer>

function tokenDifferences({ chainId, usdcAddress }: ExpectedToken, answers: TokenAnswers): string[] {
  const { decimals, name, version, domain, receive } = answers
  const terms = { name: String(name.value), version: String(version.value), chainId, verifyingContract: usdcAddress }
  return [
    ...(decimals.value === 6n ? [] : [`the token ${usdcAddress} has ${decimals.value ?? 'no'} decimals, not 6`]),
    ...(domain.value === TypedDataEncoder.hashDomain(terms)
      ? []
      : ["the token's EIP-712 domain is not that of its name, version, chain and address"]),
    // A forged signature must be refused with a reason; a token without the function reverts without one.
    ...(!receive.success && receive.data !== '0x'
      ? []
      : ['the token has no receiveWithAuthorization(…, bytes): it is older than USDC 2.2']),
  ]
}

const routerQuestions = (target: string, [memo, merchant]: readonly [string, string]) => ({
  token: { target, of: router, method: 'token' },
  feeBps: { target, of: router, method: 'feeBps' },
  feeReceiver: { target, of: router, method: 'feeReceiver' },
  implementation: { target, of: router, method: 'depositImplementation' },
  deposit: { target, of: router, method: 'depositAddress', values: [memo, merchant] },
})
type RouterAnswers = Record<keyof ReturnType<typeof routerQuestions>, Answer>

function routerDifferences(expected: ExpectedDeployment, answers: RouterAnswers, deposit: string, codeOf: (account: string) => string) {
  const { usdcAddress, routerAddress } = expected
  if (codeOf(routerAddress) === '0x') return [`no router stands at ${routerAddress}`]
  const [token, feeBps, feeReceiver] = [answers.token.value, answers.feeBps.value, answers.feeReceiver.value]
  const differences: string[] = []
  const compare = (what: string, found: unknown, wanted: string | undefined) => {
    if (wanted !== undefined && !isSame(found, wanted)) differences.push(`the router's ${what} is ${found ?? 'unknown'}, not ${wanted}`)
  }
  const implementation = depositImplementation(routerAddress)
  compare('token', token, usdcAddress)
  const fees = [expected.feeBps ?? []].flat()
  if (fees.length > 0 && !fees.some(fee => isSame(feeBps, String(fee)))) compare('fee in basis points', feeBps, fees.join(' or '))
  if (expected.feeReceivers !== undefined && !expected.feeReceivers.some(address => isSame(feeReceiver, address)))
    compare('fee receiver', feeReceiver, expected.feeReceivers.join(' or '))
  compare('implementation of deposit addresses', answers.implementation.value, implementation)
  compare('deposit address of a random memo', answers.deposit.value, deposit)
  const known = typeof token === 'string' && typeof feeBps === 'bigint' && typeof feeReceiver === 'string'
  if (!known || codeOf(routerAddress) !== routerCode(routerAddress, { usdcAddress: token, feeBps, feeReceiver }))
    differences.push(`the code at ${routerAddress} is not that of the router`)
  if (codeOf(implementation) !== implementationCode(routerAddress))
    differences.push(`the code at ${implementation} is not that of the deposit addresses' implementation`)
  return differences
}

/**
 * The part of `verifyDeployment` that does not need a router: chain, opcodes and token. A deployment begins with it, because nothing that is
 * deployed can be changed.
 */
export async function verifyToken(reader: ChainReader, configured: ExpectedToken): Promise<void> {
  const expected = { ...configured, usdcAddress: getAddress(configured.usdcAddress) }
  const { chainId, usdcAddress } = expected
  const missing = await opcodeDifferences(reader)
  if (missing.length > 0) throw new DeploymentMismatchError(chainId, [...chainDifferences(expected), ...missing])
  const found = await probe(reader, tokenQuestions(usdcAddress), [])
  const differences = [
    ...nodeDifferences(found.chainId, chainId),
    ...chainDifferences(expected),
    ...tokenDifferences(expected, found.answers),
  ]
  if (differences.length > 0) throw new DeploymentMismatchError(chainId, differences)
}

/**
 * Compares a chain and what stands on it with what was configured, in one block: the chain is supported and runs Cancun opcodes; the token has
 * six decimals, its own EIP-712 domain and EIP-3009 with signatures as bytes; router and implementation have the code of the artifacts; the
 * router's terms are those given; its deposit addresses are those that we compute.
 * Rejects with DeploymentMismatchError when anything differs, and with the reader's own error when the chain cannot be read.
 */
export async function verifyDeployment(reader: ChainReader, configured: ExpectedDeployment): Promise<void> {
  const expected = { ...configured, usdcAddress: getAddress(configured.usdcAddress), routerAddress: getAddress(configured.routerAddress) }
  const { chainId, usdcAddress, routerAddress } = expected
  const missing = await opcodeDifferences(reader)
  if (missing.length > 0) throw new DeploymentMismatchError(chainId, [...chainDifferences(expected), ...missing])
  const [memo, merchant] = [hexlify(randomBytes(32)), hexlify(randomBytes(20))] as const
  const questions = { ...tokenQuestions(usdcAddress), ...routerQuestions(routerAddress, [memo, merchant]) }
  const found = await probe(reader, questions, [routerAddress, depositImplementation(routerAddress)])
  const differences = [
    ...nodeDifferences(found.chainId, chainId),
    ...chainDifferences(expected),
    ...tokenDifferences(expected, found.answers),
    ...routerDifferences(expected, found.answers, depositAddress({ router: routerAddress, memo, merchant }), found.codeOf),
  ]
  if (differences.length > 0) throw new DeploymentMismatchError(chainId, differences)
}
