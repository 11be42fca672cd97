import { topology } from '@ponte/contracts'
import { chainFacts } from './chain-facts'
import { type Home, openHome } from './home'
import { playOn } from './play'
import recorded from './recorded.json'

// Events come in any order, again and again, and late: what a merchant sees and is notified of is what the ordered run recorded. More seeds, RabbitMQ, two
// replicas and the recording itself: npm run simulation -- messages.

/** No chain is here whose token a wallet would sign for: `refunds-relayed` plays it. */
const NEEDS_SIGNATURE = 'refund.failed'
const SEED = Number(process.env.PONTE_MESSAGES_SEED ?? 1)

let home: Home
beforeAll(async () => {
  home = await openHome()
})
afterAll(() => home?.close())

it(`seed ${SEED}: every type of the topology, shuffled, repeated and delayed, ends as it was recorded in order`, async () => {
  const { books, types, dead } = await playOn(home, 'memory', chainFacts(), SEED, 1)
  const missing = Object.values(topology)
    .flat()
    .filter(type => !types.has(type) && type !== NEEDS_SIGNATURE)
  expect({ missing, dead, books }).toEqual({ missing: [], dead: [], books: recorded })
}, 240_000)
