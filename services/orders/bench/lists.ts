import { uuidv7 } from '@ponte/service-kit'
import { quantile, runBench, timesOf } from '@ponte/service-kit/testing'
import { fillOrders, listQueries, type Plan, plansOf } from './many-orders'
import { figuresOf, withOrders } from './orders'

// A page of a merchant with a million orders beside a page of one with a hundred: what it reads and how long it takes, by filter.

const MANY = Number(process.env.BENCH_ORDERS ?? 1_000_000)
const FEW = 100
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 60)

interface Row extends Plan {
  name: string
  orders: number
  p50Ms: number
  p95Ms: number
}

runBench(() =>
  withOrders(async ({ database, start: serve, ask }) => {
    const [many, few] = [uuidv7(), uuidv7()]
    const start = performance.now()
    await fillOrders(database, few, FEW)
    await fillOrders(database, many, MANY)
    console.log(`${MANY} and ${FEW} orders written in ${((performance.now() - start) / 1000).toFixed(0)} s`)
    await serve()
    const rows: Row[] = []
    for (const [merchant, count] of [[few, FEW] as const, [many, MANY] as const]) {
      for (const [name, query] of Object.entries(await listQueries(database, merchant))) {
        const get = () => ask(merchant, 'orders', query)
        const [plan] = await plansOf(database, get)
        if (!plan) throw new Error(`No statement was seen for ${name}.`)
        const times = await timesOf(ROUNDS, get)
        rows.push({ name, orders: count, ...plan, p50Ms: quantile(times, 0.5), p95Ms: quantile(times, 0.95) })
      }
    }
    return figuresOf(`Lists: a page of 20 of ${FEW} and of ${MANY} orders, over HTTP, one client`, rows)
  }),
)
