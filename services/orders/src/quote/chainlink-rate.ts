import { Contract, FetchRequest, JsonRpcProvider, Network } from 'ethers'
import { demandPast, invertedMicros, type RateSource, SOURCE_DEADLINE_MS } from './source'

const AGGREGATOR_V3 = [
  'function decimals() view returns (uint8)',
  'function description() view returns (string)',
  'function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)',
]

/**
 * Chainlink's BRL / USD feed: dollars per real, inverted exactly to reais per dollar; a USDC is taken for a dollar.
 * Refuses a feed whose description names another pair: an address mistaken for another would price every order wildly wrong.
 */
export function chainlinkRate(options: {
  rpcUrl: string
  address: string
  now: () => Date
  maxAgeS: number
  /** By how much a block's clock may run ahead of ours. */
  aheadMaxS: number
}): RateSource {
  const request = new FetchRequest(options.rpcUrl)
  request.timeout = SOURCE_DEADLINE_MS
  // Nothing is signed here, so the chain's number plays no part; without one ethers would ask for it, for ever and loudly while no node answers.
  const provider = new JsonRpcProvider(request, Network.from(1), { staticNetwork: true, batchMaxCount: 1 })
  const feed = new Contract(options.address, AGGREGATOR_V3, provider)
  const read = (method: string) => feed.getFunction(method).staticCall()
  let unit: bigint | undefined

  const learnUnit = async (): Promise<bigint> => {
    const description = String(await read('description'))
    if (!/^BRL\s*\/\s*USD$/i.test(description.trim()))
      throw new Error(`The feed at ${options.address} is of ${description}, not of BRL / USD.`)
    return 10n ** BigInt(await read('decimals'))
  }
  return {
    name: 'chainlink',
    async observe() {
      unit ??= await learnUnit()
      const round = await read('latestRoundData')
      const answer = BigInt(round.answer)
      const updatedAt = Number(round.updatedAt) * 1000
      if (answer <= 0n || updatedAt === 0) throw new Error('The feed has no answer.')
      const rateMicros = invertedMicros(answer, unit)
      const asOf = demandPast('chainlink', new Date(updatedAt), options.now(), options.aheadMaxS)
      return { source: 'chainlink', rateMicros, asOf, maxAgeS: options.maxAgeS }
    },
  }
}
