import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type LocalChain, mined, startLocalChain, testAccounts } from '@ponte/local-servers'
import { routerAddress } from '../../src'
import { randomMemo, send, usdcOf } from '../observe'
import { startSupported } from './supported'

const DEPLOYER = testAccounts[8]
const FEE = { feeBps: 100, feeReceiver: testAccounts[1].address }

const chains: LocalChain[] = []
afterAll(() => Promise.all(chains.map(chain => chain.stop())))

/** With one cent for the deployer. */
async function startFunded(chainId: number): Promise<LocalChain> {
  const { chain, usdcAddress } = await startSupported(chainId)
  chains.push(chain)
  await send(usdcOf(chain, chain.wallet(0), usdcAddress), 'mint', DEPLOYER.address, 10_000n)
  return chain
}

function deploy(chain: LocalChain, ...args: string[]) {
  const command = [join(__dirname, '../../scripts/deploy.mjs'), '--fee-bps', String(FEE.feeBps), '--fee-receiver', FEE.feeReceiver, ...args]
  const env = { PATH: process.env.PATH, RPC_URL: chain.rpcUrl, DEPLOYER_PRIVATE_KEY: DEPLOYER.privateKey }
  return spawnSync(process.execPath, command, { encoding: 'utf8', env })
}

const nonceOf = ({ provider }: LocalChain) => provider.getTransactionCount(DEPLOYER.address, 'pending')

it('the deploy command verifies, deploys, verifies and sweeps a cent, at one address on every chain', async () => {
  const [base, polygon] = [await startFunded(8_453), await startFunded(137)]
  await mined(polygon.wallet(DEPLOYER.privateKey).sendTransaction({ to: DEPLOYER.address }))
  const router = routerAddress({ deployer: DEPLOYER.address, ...FEE })

  const rehearsed = deploy(base)
  expect(rehearsed).toMatchObject({ status: 0, stdout: expect.stringContaining('Nothing was sent.') })
  expect(await nonceOf(base)).toBe(0)
  for (const chain of [base, polygon]) {
    const { status, stdout } = deploy(chain, '--send')
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('may be published') })
    expect(stdout).toContain(router)
  }

  // A second run finds the router and deploys nothing; without the cent it names what is missing.
  const again = deploy(base, '--send')
  expect(again.stdout).toContain('stands already')
  expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining('needs 0.01 USDC') })
  expect(deploy(base, '--send', '--salt', randomMemo()).stdout).not.toContain(router)
})

it('the deploy command refuses a chain that is not supported', async () => {
  const chain = await startLocalChain({ chainId: 56 })
  chains.push(chain)
  expect(deploy(chain, '--send')).toMatchObject({ status: 1, stderr: expect.stringContaining('not on the list of supported chains') })
  expect(deploy(chain, '--send', '--development', '--token', chain.usdcAddress).stdout).toContain('router and implementation  verified')
})
