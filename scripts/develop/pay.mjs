import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { root } from './setup.mjs'
import { fail, StepError } from './steps.mjs'

// Pays an order of the running `npm start` as its sample payer would: real transactions on the local chain, where USDC costs nothing.

const USAGE =
  'npm run pay -- ORDER [--amount 12.34] [--router]   ORDER is an id or a checkout link; without --router it is a plain transfer'
const ORDER_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i
const WAIT_MS = 60_000
const LOOK_MS = 250

async function main() {
  const { id, amount, byRouter } = wanted()
  const place = runningPlace()
  const before = await checkoutOf(place, id)
  const { payments } = await payBy(place, id, { ...(amount === undefined ? {} : { amount }), via: byRouter ? 'router' : 'transfer' })
  for (const { amount, via, tx_hash } of payments) {
    console.log(`Sent ${amount} USDC ${via === 'router' ? 'through the router' : `to ${before.payment.deposit_address}`}: ${tx_hash}`)
  }
  await watch(place, id, before, payments.at(-1).tx_hash)
}

/** The route of all-in-one's sample payer. */
async function payBy({ gateway_url }, id, request) {
  const answer = await fetch(`${gateway_url}/sample-payer/orders/${id}/pay`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
  })
  const body = await answer.json()
  if (!answer.ok) throw new StepError(body.detail)
  return body
}

function wanted() {
  const { values, positionals } = parsed()
  const id = ORDER_ID.exec(positionals[0] ?? '')?.[0]?.toLowerCase()
  if (!id || positionals.length > 1) throw new StepError(`Name one order. Usage: ${USAGE}`)
  if (values.amount !== undefined && !/^\d{1,9}(\.\d{1,6})?$/.test(values.amount))
    throw new StepError(`${values.amount} is no amount of USDC. Usage: ${USAGE}`)
  return { id, amount: values.amount, byRouter: values.router === true }
}

function parsed() {
  try {
    return parseArgs({ options: { amount: { type: 'string' }, router: { type: 'boolean' } }, allowPositionals: true })
  } catch (error) {
    throw new StepError(`${error.message} Usage: ${USAGE}`)
  }
}

function runningPlace() {
  const file = join(process.env.PONTE_STATE_DIR ?? join(root, '.ponte'), 'embedded.json')
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw new StepError(`Ponte does not run here (${file} is missing). Start it first: npm start`)
  }
}

async function checkoutOf({ gateway_url }, id) {
  const answer = await fetch(`${gateway_url}/api/v1/checkout/${id}`).catch(() => null)
  if (answer === null) throw new StepError(`${gateway_url} does not answer. Start Ponte first: npm start`)
  const body = await answer.json()
  if (!answer.ok) throw new StepError(`${gateway_url} answered ${answer.status}: ${body.detail}`)
  return body
}

/** Follows the order until it shows this payment as confirmed. */
async function watch(place, id, before, txHash) {
  let shown = before.status
  const deadline = Date.now() + WAIT_MS
  while (Date.now() < deadline) {
    const { status, exception, payments, due } = await checkoutOf(place, id)
    if (status !== shown) console.log(`Order ${id} is ${status}${due === '0.000000' ? '' : `, ${due} USDC are still due`}.`)
    shown = status
    if (payments.some(payment => payment.tx_hash === txHash && payment.status === 'confirmed')) {
      console.log(
        `The payment is confirmed${exception ? `; the order states: ${exception}` : ''}. Webhooks received: ${place.receiver_url}/received`,
      )
      return
    }
    await pause(LOOK_MS)
  }
  throw new StepError(`The payment was not confirmed within a minute. Look at ${place.gateway_url}/pay/${id}`)
}

await main().catch(fail)
