import { createHmac } from 'node:crypto'
import { testDatabase } from '@ponte/service-kit/testing'
import { Queue, Worker } from 'bullmq'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import PgBoss from 'pg-boss'
import { Pool } from 'undici'
import { HOSTS } from './hosts'
import { startRedis } from './redis'
import { addDue, addMerchants, BODY, prepareDispatcher, SECRET, untilDelivered } from './rig'

/** Does `count` signed posts to `url` and answers how many seconds it took, preparation not counted. */
export type Contender = (url: string, count: number) => Promise<number>

/** As many posts at once as the dispatcher does as shipped: three quarters of its slots, the rest is for slow receivers. */
const CONCURRENCY = 384
const MERCHANTS = 100

/** The fastest post there is here: kept connections, the answer thrown away. */
function poster(url: string) {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections: CONCURRENCY, pipelining: 1 })
  const post = async (body: string) => {
    const signature = createHmac('sha256', SECRET).update(body).digest('hex')
    const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': signature }
    const answer = await pool.request({ path: pathname, method: 'POST', headers, body })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`The receiver answered ${answer.statusCode}.`)
  }
  return { post, close: () => pool.destroy() }
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

/** The limit: signed posts and nothing else, nothing remembered. */
const bareLoop: Contender = async (url, count) => {
  const { post, close } = poster(url)
  let left = count
  const loop = async () => {
    while (left-- > 0) await post(BODY)
  }
  const took = await seconds(async () => void (await Promise.all(Array.from({ length: CONCURRENCY }, loop))))
  await close()
  return took
}

/** Everything on: lanes, leases, sealed secrets, vetted addresses, each attempt recorded. */
const ponte: Contender = async (url, count) => {
  const rig = await prepareDispatcher()
  const hosts = HOSTS.map(host => url.replace('127.0.0.1', host))
  const merchants = await Promise.all(hosts.map(host => addMerchants(rig.sql, MERCHANTS / hosts.length, host)))
  await addDue(rig.sql, merchants.flat(), count)
  let stop: () => Promise<unknown> = async () => undefined
  const took = await seconds(async () => {
    const dispatcher = await rig.start()
    stop = dispatcher.stop
    await untilDelivered(rig.sql, count)
  })
  await stop()
  await rig.stop()
  return took
}

/** Large batches, several pollers at its shortest interval. */
const pgBoss: Contender = async (url, count) => {
  const database = await testDatabase()
  const boss = new PgBoss({ connectionString: database.url, max: 10 })
  const { post, close } = poster(url)
  boss.on('error', error => console.error(error))
  await boss.start()
  await boss.createQueue('webhooks')
  for (let at = 0; at < count; at += 1_000)
    await boss.insert(Array.from({ length: Math.min(1_000, count - at) }, () => ({ name: 'webhooks', data: { body: BODY } })))
  const sql = watchingPool(database.url)
  const took = await seconds(async () => {
    const handle = async (jobs: { data: unknown }[]) => void (await Promise.all(jobs.map(job => post((job.data as { body: string }).body))))
    for (let n = 0; n < 8; n += 1) await boss.work('webhooks', { batchSize: 500, pollingIntervalSeconds: 0.5 }, handle)
    await untilNone(sql, "SELECT 1 FROM pgboss.job WHERE name = 'webhooks' AND state <> 'completed' LIMIT 1")
  })
  await boss.stop({ graceful: false })
  await sql.end()
  await close()
  await database.drop()
  return took
}

/** Its local queue and batched completion, as its performance notes advise. */
const graphileWorker: Contender = async (url, count) => {
  const database = await testDatabase()
  const utils = await makeWorkerUtils({ connectionString: database.url })
  const { post, close } = poster(url)
  await utils.migrate()
  for (let at = 0; at < count; at += 1_000)
    await utils.addJobs(Array.from({ length: Math.min(1_000, count - at) }, () => ({ identifier: 'post', payload: { body: BODY } })))
  await utils.release()
  const sql = watchingPool(database.url)
  let stop: () => Promise<unknown> = async () => undefined
  const took = await seconds(async () => {
    const runner = await run({
      connectionString: database.url,
      concurrency: CONCURRENCY,
      noHandleSignals: true,
      logger: new Logger(() => () => undefined),
      taskList: { post: payload => post((payload as { body: string }).body) },
      preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    })
    stop = () => runner.stop()
    await untilNone(sql, 'SELECT 1 FROM graphile_worker._private_jobs LIMIT 1')
  })
  await stop()
  await sql.end()
  await close()
  await database.drop()
  return took
}

/** One worker with as many jobs at once as the others have posts; what is done is removed. */
const bullMq =
  (redisServer: string): Contender =>
  async (url, count) => {
    const redis = await startRedis(redisServer)
    const connection = { port: redis.port, maxRetriesPerRequest: null }
    const queue = new Queue('webhooks', { connection })
    const { post, close } = poster(url)
    for (let at = 0; at < count; at += 1_000)
      await queue.addBulk(Array.from({ length: Math.min(1_000, count - at) }, () => ({ name: 'post', data: { body: BODY } })))
    let worker: Worker<{ body: string }> | undefined
    const took = await seconds(async () => {
      let left = count
      worker = new Worker('webhooks', job => post(job.data.body), {
        connection,
        concurrency: CONCURRENCY,
        removeOnComplete: { count: 0 },
      })
      const of = worker
      await new Promise<void>(resolve => of.on('completed', () => --left === 0 && resolve()))
    })
    await worker?.close()
    await queue.close()
    await close()
    await redis.stop()
    return took
  }

/** Dropping the database may end a connection that is just being closed. */
const watchingPool = (connectionString: string) => new pg.Pool({ connectionString, max: 1 }).on('error', () => undefined)

async function untilNone(sql: pg.Pool, query: string): Promise<void> {
  while ((await sql.query(query)).rows.length > 0) await new Promise(resolve => setTimeout(resolve, 20))
}

const { REDIS_SERVER } = process.env

export const contenders: Record<string, Contender | undefined> = {
  'bare loop, nothing kept': bareLoop,
  'Ponte, attempts recorded': ponte,
  'pg-boss': pgBoss,
  'graphile-worker': graphileWorker,
  ...(REDIS_SERVER ? { 'BullMQ, Redis syncs each write': bullMq(REDIS_SERVER) } : { 'BullMQ: there is no redis-server here': undefined }),
}
