import { type LocalChain, startLocalChain } from '@ponte/local-servers'
import { silentLogger, until } from '@ponte/service-kit'
import { type Miner, startMiner } from './miner'

let chain: LocalChain
let miner: Miner
beforeAll(async () => {
  chain = await startLocalChain({ noMining: true })
  miner = await startMiner(chain, silentLogger)
})
afterAll(async () => {
  await miner.stop()
  await chain.stop()
})

it('a chain that stood still goes on', async () => {
  const goOn = await miner.halt()
  await expect(miner.halt()).rejects.toThrow('stands still')
  const head = await chain.provider.getBlockNumber()
  await goOn()
  await until(async () => (await chain.provider.getBlockNumber()) > head + 1, 'it mines nothing', 20_000)
})
