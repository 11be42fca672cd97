import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../develop/setup.mjs'
import { fail, StepError } from '../develop/steps.mjs'

// The operator's own audit: asks chain-listener (chain against books) and orders (payments against orders) on their ops ports, and joins what they answer.
// No service reads another's tables for it. Ends with 1 when anything differs.

const SPAN = 5_000
const LOOK_AGAIN_MS = 3_000

async function main() {
  const { values } = parseArgs({ options: { 'from-block': { type: 'string' }, 'to-block': { type: 'string' } } })
  const urls = opsUrls()
  const status = await ask(urls.listener, '/status')
  if (status.confirmed_block === null) throw new StepError('The listener has confirmed nothing yet.')
  const from = blockOf(values['from-block'], 0)
  const to = Math.min(blockOf(values['to-block'], status.confirmed_block), status.confirmed_block)
  if (from > to) throw new StepError(`Block ${from} is not confirmed yet; the last one that is, is ${status.confirmed_block}.`)

  let result = await reconcile(urls, from, to)
  if (result.differences.length > 0) {
    // What was on its way between two services is there a moment later; only what stays is a difference.
    await new Promise(resolve => setTimeout(resolve, LOOK_AGAIN_MS))
    const again = await reconcile(urls, from, to)
    const first = new Set(result.differences)
    result = { ...again, differences: again.differences.filter(difference => first.has(difference)) }
  }
  await tell(urls, from, to, result)
  if (result.differences.length > 0) process.exitCode = 1
}

function opsUrls() {
  const { CHAIN_LISTENER_OPS_URL, ORDERS_OPS_URL, PONTE_STATE_DIR } = process.env
  if (CHAIN_LISTENER_OPS_URL && ORDERS_OPS_URL) return { listener: CHAIN_LISTENER_OPS_URL, orders: ORDERS_OPS_URL }
  const file = join(PONTE_STATE_DIR ?? join(root, '.ponte'), 'embedded.json')
  try {
    const { metrics_urls } = JSON.parse(readFileSync(file, 'utf8'))
    const opsUrl = name => metrics_urls[name].replace(/\/metrics$/, '')
    return { listener: opsUrl('chain-listener'), orders: opsUrl('orders') }
  } catch {
    throw new StepError(
      `Start Ponte first (npm start), or set CHAIN_LISTENER_OPS_URL and ORDERS_OPS_URL to the two ops ports. (${file} is not there.)`,
    )
  }
}

function blockOf(text, fallback) {
  if (text === undefined) return fallback
  if (!/^\d+$/.test(text)) throw new StepError('A block is a number. Usage: npm run reconcile -- [--from-block N] [--to-block N]')
  return Number(text)
}

async function ask(url, path) {
  const response = await fetch(`${url.replace(/\/$/, '')}${path}`, { signal: AbortSignal.timeout(60_000) }).catch(error => {
    throw new StepError(`${url} does not answer: ${error.cause?.message ?? error.message}`)
  })
  if (!response.ok) throw new StepError(`${url}${path} answered ${response.status}: ${await response.text()}`)
  return response.json()
}

async function reconcile(urls, from, to) {
  const total = { payments: 0, unmatched: 0, differences: [] }
  for (let first = from; first <= to; first += SPAN) {
    const path = `/reconcile?from_block=${first}&to_block=${Math.min(to, first + SPAN - 1)}`
    const [listener, orders] = await Promise.all([ask(urls.listener, path), ask(urls.orders, path)])
    total.payments += listener.payments.filter(({ kind }) => kind !== 'sweep').length
    total.unmatched += orders.payments.filter(({ place, status }) => place === 'unmatched' && status === 'confirmed').length
    total.differences.push(
      ...listener.differences.map(
        one => `${one.kind}: log ${one.log_index} of transaction ${one.tx_hash} in block ${one.block_number}: ${one.detail}`,
      ),
      ...orders.differences.map(one => `${one.kind}: order ${one.order_id}: ${one.detail}`),
      ...compareBooks(listener.payments, orders.payments),
    )
  }
  return total
}

/** Each payment that the listener confirmed is once in the books of orders, as it said; and nothing else is. */
function compareBooks(said, booked) {
  const books = new Map()
  for (const one of booked) books.set(one.payment_id, [...(books.get(one.payment_id) ?? []), one])
  const differences = []
  for (const payment of said) {
    const rows = books.get(payment.payment_id) ?? []
    books.delete(payment.payment_id)
    const [row] = rows
    const name = `payment ${payment.payment_id} (block ${payment.block_number}, ${payment.amount} USDC)`
    if (!row) differences.push(`lost: ${name} is ${payment.status} at the listener, and neither on an order nor in unmatched_payments`)
    else if (rows.length > 1)
      differences.push(`twice: ${name} is on order ${rows.find(one => one.order_id)?.order_id} and in unmatched_payments`)
    else if (row.status !== payment.status)
      differences.push(`status: ${name} is ${payment.status} at the listener and ${row.status} at orders`)
    else if (row.amount !== payment.amount) differences.push(`amount: ${name} is ${row.amount} USDC at orders`)
  }
  for (const [id, [row]] of books)
    if (row.status !== 'orphaned')
      differences.push(
        `unfounded: payment ${id} of ${row.amount} USDC (${row.order_id ? `order ${row.order_id}` : row.reason}) is unknown to the listener`,
      )
  return differences
}

async function tell(urls, from, to, { payments, unmatched, differences }) {
  const { count, total, oldest_first } = await ask(urls.listener, '/deposits')
  console.log(`Blocks ${from} to ${to}: ${payments} payments, ${unmatched} of them settle nothing and are kept with the reason.`)
  if (count > 0) {
    console.log(`${count} deposit addresses hold ${total} USDC that is not swept yet:`)
    for (const one of oldest_first)
      console.log(`  ${one.deposit_address}  ${one.amount} USDC for ${one.age_seconds} s, order ${one.order_id}`)
  }
  for (const difference of differences) console.log(`DIFFERENCE  ${difference}`)
  console.log(differences.length === 0 ? 'The chain and the books agree.' : `${differences.length} differences.`)
}

await main().catch(fail)
