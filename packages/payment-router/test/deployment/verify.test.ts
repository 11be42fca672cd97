import { type LocalChain, openProvider, startAnvil, startLocalChain } from '@ponte/local-servers'
import { getAddress, JsonRpcProvider } from 'ethers'
import { deployRouter, depositImplementation, type ExpectedDeployment, supportedChains, verifyDeployment } from '../../src'
import { nativeTokenAbi, nativeTokenBytecode } from '../artifacts/native-token'
import { deployArtifact, deployRouterFor, deployUnrulyToken, randomAddress } from '../observe'

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
})
afterAll(() => chain.stop())

const expected = (changes: Partial<ExpectedDeployment> = {}): ExpectedDeployment => {
  const { chainId, usdcAddress, routerAddress, feeBps, feeReceiver } = chain
  return { chainId, usdcAddress, routerAddress, feeBps, feeReceivers: [feeReceiver], development: true, ...changes }
}
const verified = (changes: Partial<ExpectedDeployment> = {}) => verifyDeployment(chain.provider, expected(changes))
const code = (address: string) => chain.provider.getCode(address)
const setCode = (address: string, bytes: string) => chain.provider.send('anvil_setCode', [address, bytes])

/** Changes one thing on the chain and changes it back. */
async function withCode(address: string, bytes: string, work: () => Promise<void>) {
  const before = await code(address)
  await setCode(address, bytes)
  await work()
  await setCode(address, before)
}

describe('a deployment', () => {
  it('that is as configured passes, in whatever case its addresses are written', async () => {
    await verified()
    await verified({ usdcAddress: chain.usdcAddress.toLowerCase(), routerAddress: chain.routerAddress.toLowerCase() })
    await verified({ feeBps: undefined, feeReceivers: undefined })
  })

  it.each<[string, () => Partial<ExpectedDeployment>, string]>([
    ['another chain', () => ({ chainId: 31_338 }), 'the node is of chain 31337'],
    ['a chain that is not supported', () => ({ development: false }), 'not on the list'],
    ['a main net as a development chain', () => ({ chainId: 8_453 }), 'Base is a main net'],
    ['another token than Circle’s', () => ({ chainId: 8_453, development: false }), 'USDC on Base is 0x8335'],
    ['no router', () => ({ routerAddress: getAddress(randomAddress()) }), 'no router stands at'],
    ['another contract as router', () => ({ routerAddress: chain.usdcAddress }), 'is not that of the router'],
    ['another fee', () => ({ feeBps: 99 }), "the router's fee in basis points is 100, not 99"],
    ['another fee receiver', () => ({ feeReceivers: [chain.usdcAddress] }), "the router's fee receiver is"],
    ['a token without code', () => ({ usdcAddress: getAddress(randomAddress()) }), 'has no decimals'],
  ])('is refused for %s, and reports it', async (_, changes, sentence) => {
    await expect(verified(changes())).rejects.toThrow(sentence)
  })

  it('is refused for a router of another token', async () => {
    const token = await (await deployUnrulyToken(chain, 0)).getAddress()
    const routerAddress = await deployRouterFor(chain, { usdcAddress: token })
    await expect(verified({ routerAddress })).rejects.toThrow("the router's token is")
    // With that token as configured, it is the token that does not pass.
    await expect(verified({ routerAddress, usdcAddress: token })).rejects.toThrow(/has 18 decimals, not 6; .*EIP-712 domain/)
  })

  it('is refused for a token that has no EIP-3009 with signatures as bytes', async () => {
    const token = await deployArtifact(chain, { abi: nativeTokenAbi, bytecode: nativeTokenBytecode })
    const routerAddress = await deployRouterFor(chain, { usdcAddress: token })
    await expect(verified({ routerAddress, usdcAddress: token })).rejects.toThrow('no receiveWithAuthorization')
  })

  it('is refused when one byte of router or implementation differs', async () => {
    const last = (bytes: string) => `${bytes.slice(0, -2)}${bytes.endsWith('00') ? '01' : '00'}`
    const implementation = depositImplementation(chain.routerAddress)
    await withCode(chain.routerAddress, last(await code(chain.routerAddress)), () =>
      expect(verified()).rejects.toThrow(`the code at ${chain.routerAddress} is not that of the router`),
    )
    await withCode(implementation, last(await code(implementation)), () =>
      expect(verified()).rejects.toThrow(`the code at ${implementation} is not that of the deposit addresses' implementation`),
    )
    await verified()
  })

  it('is refused on a chain without the opcodes of Cancun', async () => {
    const old = await startAnvil({ extraArgs: ['--hardfork', 'shanghai'] })
    const provider = openProvider(old.rpcUrl, old.chainId)
    await expect(verifyDeployment(provider, expected())).rejects.toThrow('opcodes of Cancun')
    provider.destroy()
    await old.stop()
  })

  it('that cannot be read is no mismatch', async () => {
    const nowhere = new JsonRpcProvider('http://127.0.0.1:9', chain.chainId, { staticNetwork: true })
    await expect(verifyDeployment(nowhere, expected())).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    nowhere.destroy()
  })
})

describe('a supported chain', () => {
  it.each(Object.keys(supportedChains))('%s passes with the token at its listed address', async id => {
    const chainId = Number(id)
    const usdcAddress = supportedChains[chainId]?.usdcAddress ?? ''
    const other = await startLocalChain({ chainId })
    await other.provider.send('anvil_setCode', [usdcAddress, await other.provider.getCode(other.usdcAddress)])
    const terms = { feeBps: 100, feeReceiver: other.feeReceiver }
    const routerAddress = await deployRouter(other.wallet(3), { ...terms, usdcAddress })
    await verifyDeployment(other.provider, { chainId, usdcAddress, routerAddress, feeBps: 100, development: false })
    await other.stop()
  })
})
