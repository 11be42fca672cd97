import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type LocalChain, startLocalChain, testAccounts } from '@ponte/local-servers'
import { deployContractWallet, deployRouter, depositAddress } from '../../src'
import { randomAddress, randomMemo, read, send, usdcOf } from '../observe'
import { startSupported } from './supported'

const DEPLOYER = testAccounts[8]
const TERMS = { feeBps: 100, feeReceiver: testAccounts[1].address }
const AMOUNT = 1_000_000n

let home: LocalChain
let other: LocalChain
/** On the chain of the money. */
let usdcAddress: string
let router: string
const unlisted: LocalChain[] = []
beforeAll(async () => {
  const base = await startSupported(8_453)
  const polygon = await startSupported(137)
  ;[home, other, usdcAddress] = [base.chain, polygon.chain, polygon.usdcAddress]
  router = await deployRouter(home.wallet(DEPLOYER.privateKey), { ...TERMS, usdcAddress: base.usdcAddress })
  await deployRouter(other.wallet(DEPLOYER.privateKey), { ...TERMS, usdcAddress })
})
afterAll(() => Promise.all([home, other, ...unlisted].map(chain => chain?.stop())))

function run(script: string, args: string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(__dirname, '../../scripts', script), ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...env },
  })
  return { status, stdout, stderr }
}

describe('money that was sent to a deposit address on another supported chain', () => {
  const sweep = (memo: string, merchant: string, ...more: string[]) =>
    run('sweep.mjs', ['--router', router, '--memo', memo, '--merchant', merchant, ...more], {
      ...{ HOME_RPC_URL: home.rpcUrl, RPC_URL: other.rpcUrl },
      SWEEPER_PRIVATE_KEY: testAccounts[5].privateKey,
    })
  const held = (account: string) => read<bigint>(usdcOf(other, other.wallet(0), usdcAddress), 'balanceOf', account)
  const sent = async (merchant: string) => {
    const memo = randomMemo()
    await send(usdcOf(other, other.wallet(0), usdcAddress), 'mint', depositAddress({ router, memo, merchant }), AMOUNT)
    return memo
  }

  it('goes to a merchant whose payout address is an account, less the fee', async () => {
    const merchant = randomAddress()
    const memo = await sent(merchant)
    expect(sweep(memo, merchant)).toMatchObject({ status: 0, stdout: expect.stringContaining('Nothing was sent.') })
    expect(await held(merchant)).toBe(0n)
    expect(sweep(memo, merchant, '--send')).toMatchObject({ status: 0, stdout: expect.stringContaining('swept') })
    expect(await held(merchant)).toBe(990_000n)
    expect(sweep(memo, merchant, '--send')).toMatchObject({ status: 1, stderr: expect.stringContaining('nothing lies there') })
  })

  it('stays where it is while the contract at the payout address is missing there, or is another one', async () => {
    const merchant = await deployContractWallet(home, testAccounts[2].address)
    const memo = await sent(merchant)
    const put = (code: string) => other.provider.send('anvil_setCode', [merchant, code])
    expect(sweep(memo, merchant, '--send')).toMatchObject({ status: 1, stderr: expect.stringContaining('does not exist on this chain') })
    await put(await other.provider.getCode(other.usdcAddress))
    expect(sweep(memo, merchant, '--send')).toMatchObject({ status: 1, stderr: expect.stringContaining('another contract') })
    expect(await held(merchant)).toBe(0n)
    await put(await home.provider.getCode(merchant))
    expect(sweep(memo, merchant, '--send').status).toBe(0)
    expect(await held(merchant)).toBe(990_000n)
  })
})

describe('the survey of a router address', () => {
  const survey = (...urls: string[]) => run('survey.mjs', ['--router', router, ...urls])

  it('is content with the router where it should stand, and with nothing elsewhere', async () => {
    const empty = await startLocalChain({ chainId: 56 })
    unlisted.push(empty)
    const { status, stdout } = survey(home.rpcUrl, other.rpcUrl, empty.rpcUrl)
    expect(stdout.match(/^ok .*/gm)).toEqual([
      expect.stringContaining('chain 8453 (Base)'),
      expect.stringContaining('chain 137 (Polygon)'),
      expect.stringMatching(/chain 56 \(not listed\).*: nothing/),
    ])
    expect(status).toBe(0)
  })

  it('finds one on a chain that is not listed, one with another token, and other code', async () => {
    const bsc = await startLocalChain({ chainId: 56 })
    const arbitrum = await startLocalChain({ chainId: 42_161 })
    const avalanche = await startLocalChain({ chainId: 43_114 })
    unlisted.push(bsc, arbitrum, avalanche)
    for (const chain of [bsc, arbitrum]) await deployRouter(chain.wallet(DEPLOYER.privateKey), { ...TERMS, usdcAddress: chain.usdcAddress })
    await avalanche.provider.send('anvil_setCode', [router, await avalanche.provider.getCode(avalanche.usdcAddress)])
    const { status, stdout } = survey(bsc.rpcUrl, arbitrum.rpcUrl, avalanche.rpcUrl)
    expect(stdout.match(/^WRONG .*/gm)).toEqual([
      expect.stringContaining('not on the list of supported ones'),
      expect.stringContaining('and USDC is 0xaf88d065e77c8cC2239327C5EDb3A432268e5831'),
      expect.stringContaining('other code stands there'),
    ])
    expect(status).toBe(1)
  })

  it('names a chain that it could not ask', () => {
    expect(survey('http://127.0.0.1:9')).toMatchObject({ status: 2, stdout: expect.stringContaining('127.0.0.1:9') })
  })
})
