import { type LocalChain, mined, startLocalChain, testAccounts } from '@ponte/local-servers'
import { Contract, Interface, parseEther, ZeroAddress } from 'ethers'
import { AddressTakenError, deployRouter, depositAddress, depositImplementation, factoryAddress, routerAddress } from '../../src'
import { routerFactoryAbi } from '../../src/artifacts/router-factory'
import { testUsdcAbi, testUsdcBytecode } from '../../src/artifacts/test-usdc'
import { routerInitCode } from '../../src/deployment/router-address'
import { implementationCode } from '../../src/deployment/runtime-code'
import { deployArtifact, deployUnrulyToken, randomAddress, randomMemo, read, refusal, routerOf, send, usdcOf } from '../observe'

const DEPLOYER = testAccounts[8]
const TERMS = { feeBps: 100, feeReceiver: testAccounts[1].address }
const IDENTITY = { deployer: DEPLOYER.address, ...TERMS }

const chains: LocalChain[] = []
/** A chain on which nothing of ours stands but a token, at an address of its own. */
async function startOther(chainId: number, spentNonces: number): Promise<{ chain: LocalChain; usdcAddress: string }> {
  const chain = await startLocalChain({ chainId })
  chains.push(chain)
  const deployer = chain.wallet(DEPLOYER.privateKey)
  for (let spent = 0; spent < spentNonces; spent += 1) await mined(deployer.sendTransaction({ to: ZeroAddress }))
  for (let spent = 0; spent < spentNonces; spent += 1) await mined(chain.wallet(0).sendTransaction({ to: ZeroAddress }))
  return { chain, usdcAddress: await deployArtifact(chain, { abi: testUsdcAbi, bytecode: testUsdcBytecode }) }
}
afterAll(() => Promise.all(chains.map(chain => chain.stop())))

const nonceOf = ({ provider }: LocalChain) => provider.getTransactionCount(DEPLOYER.address, 'pending')

describe('a router', () => {
  it('has one address on chains with other ids, nonces and tokens, and so has every deposit address', async () => {
    const [one, two] = [await startOther(8_453_000, 0), await startOther(137_000, 3)]
    expect(one.usdcAddress).not.toBe(two.usdcAddress)
    const [memo, merchant] = [randomMemo(), randomAddress()]
    for (const { chain, usdcAddress } of [one, two]) {
      const router = await deployRouter(chain.wallet(DEPLOYER.privateKey), { ...TERMS, usdcAddress })
      expect(router).toBe(routerAddress(IDENTITY))
      const deployed = routerOf(chain, chain.wallet(0), router)
      expect(await read(deployed, 'token')).toBe(usdcAddress)
      expect(await read(deployed, 'depositAddress', memo, merchant)).toBe(depositAddress({ router, memo, merchant }))
      expect(await chain.provider.getCode(depositImplementation(router))).toBe(implementationCode(router))
      const logs = await chain.provider.getLogs({ address: factoryAddress(DEPLOYER.address), fromBlock: 0 })
      expect(logs.map(log => [...(new Interface(routerFactoryAbi).parseLog(log)?.args ?? [])])).toEqual([[router, usdcAddress]])
    }
  })

  it('that stands already is a success, and nothing is sent', async () => {
    const { chain, usdcAddress } = await startOther(1_000, 0)
    const deployer = chain.wallet(DEPLOYER.privateKey)
    const router = await deployRouter(deployer, { ...TERMS, usdcAddress })
    const nonce = await nonceOf(chain)
    expect(await deployRouter(deployer, { ...TERMS, usdcAddress })).toBe(router)
    expect(await nonceOf(chain)).toBe(nonce)
  })

  it('that stands with another token is a failure, and nothing is sent', async () => {
    const { chain, usdcAddress } = await startOther(1_001, 0)
    const deployer = chain.wallet(DEPLOYER.privateKey)
    await deployRouter(deployer, { ...TERMS, usdcAddress })
    const nonce = await nonceOf(chain)
    await expect(deployRouter(deployer, { ...TERMS, usdcAddress: chain.usdcAddress })).rejects.toThrow(AddressTakenError)
    expect(await nonceOf(chain)).toBe(nonce)
  })

  it('has another address with other code, fee, fee receiver, deployer or salt', () => {
    const changes = [{}, { feeBps: 99 }, { feeReceiver: randomAddress() }, { deployer: randomAddress() }, { salt: randomMemo() }]
    expect(new Set(changes.map(change => routerAddress({ ...IDENTITY, ...change }))).size).toBe(changes.length)
  })

  it('is not deployed where the deterministic deployment proxy is missing', async () => {
    const { chain, usdcAddress } = await startOther(1_002, 0)
    await chain.provider.send('anvil_setCode', ['0x4e59b44847b379578588920cA78FbF26c0B4956C', '0x'])
    await expect(deployRouter(chain.wallet(DEPLOYER.privateKey), { ...TERMS, usdcAddress })).rejects.toThrow('deployment proxy')
  })

  it('cannot be created without a factory that names its token', async () => {
    const { chain } = await startOther(1_003, 0)
    await expect(chain.wallet(0).sendTransaction({ data: routerInitCode(TERMS) })).rejects.toMatchObject({ code: 'CALL_EXCEPTION' })
  })
})

describe('the factory', () => {
  it('obeys its deployer alone', async () => {
    const { chain, usdcAddress } = await startOther(1_004, 0)
    await deployRouter(chain.wallet(DEPLOYER.privateKey), { ...TERMS, usdcAddress })
    const stranger = chain.wallet(7)
    const factory = new Contract(factoryAddress(DEPLOYER.address), routerFactoryAbi, stranger)
    expect(await refusal(factory, 'deploy', randomMemo(), routerInitCode(TERMS), usdcAddress)).toEqual(['NotDeployer', stranger.address])
    expect(await read(factory, 'token')).toBe(ZeroAddress)
  })
})

describe('a thief of the deployer’s key', () => {
  it('gets nothing of what was sent to the addresses on a chain where no router stands', async () => {
    const { chain, usdcAddress } = await startOther(42_161_000, 0)
    const [memo, merchant] = [randomMemo(), randomAddress()]
    const deposit = depositAddress({ router: routerAddress(IDENTITY), memo, merchant })
    const payer = chain.wallet(5)
    await send(usdcOf(chain, payer, usdcAddress), 'mint', deposit, 1_000n)
    await mined(payer.sendTransaction({ to: deposit, value: parseEther('1') }))

    // The thief's own terms lead elsewhere; on ours, the token is all there is to choose.
    const thief = chain.wallet(DEPLOYER.privateKey)
    const elsewhere = await deployRouter(thief, { feeBps: 1_000, feeReceiver: thief.address, usdcAddress })
    expect(elsewhere).not.toBe(routerAddress(IDENTITY))
    const lure = await deployUnrulyToken(chain, 0)
    const router = routerOf(chain, thief, await deployRouter(thief, { ...TERMS, usdcAddress: await lure.getAddress() }))
    expect(await router.getAddress()).toBe(routerAddress(IDENTITY))

    // A token of the thief's is called in the middle of a sweep and tries to enter again for what it wants.
    await send(lure, 'mint', deposit, 10n)
    const inner = router.interface.encodeFunctionData('recover', [memo, thief.address, usdcAddress])
    await send(lure, 'callBack', await router.getAddress(), inner)
    expect(await refusal(router, 'sweep', memo, merchant)).toEqual(['ReentrancyGuardReentrantCall'])
    expect(await refusal(router, 'recover', memo, thief.address, usdcAddress)).toEqual(['ZeroAmount'])

    await send(router, 'recover', memo, merchant, usdcAddress)
    await send(router, 'recover', memo, merchant, ZeroAddress)
    expect(await read(usdcOf(chain, payer, usdcAddress), 'balanceOf', merchant)).toBe(1_000n)
    expect(await chain.provider.getBalance(merchant)).toBe(parseEther('1'))
  })
})
