import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLocalChain } from '../src'

test('a chain whose time was moved forward goes on from there when it starts again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-moved-'))
  const stateFile = join(folder, 'chain.json')
  const first = await startLocalChain({ stateFile })
  await first.increaseTime(40 * 86_400)
  await first.mine()
  const { usdcAddress, routerAddress, rateFeedAddress } = first
  const stoodAt = await first.now()
  expect(stoodAt).toBeGreaterThan(Date.now() / 1_000 + 39 * 86_400)
  await first.stop()
  const second = await startLocalChain({ stateFile, deployed: { usdcAddress, routerAddress, rateFeedAddress } })
  await second.mine()
  const next = await second.now()
  await second.stop()
  rmSync(folder, { recursive: true, force: true })
  expect(next).toBeGreaterThan(stoodAt)
  expect(next).toBeLessThan(stoodAt + 3_600)
})
