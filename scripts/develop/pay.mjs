import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
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
  const units = amount ?? unitsOf(before.due)
  if (units === 0n) throw new StepError(`Order ${id} is ${before.status} and asks for nothing. To pay all the same, name an --amount.`)
  const { deposit_address, merchant_address } = before.payment
  if (!byRouter && deposit_address === null) throw new StepError('This order has no deposit address; pay it with --router.')

  const { chainActions, mined, openProvider } = createRequire(import.meta.url)('../../packages/local-servers/dist/index.js')
  const provider = openProvider(place.rpc_url, place.chain_id)
  try {
    const chain = chainActions(provider, { usdcAddress: place.usdc_address, routerAddress: before.payment.router_address })
    const payer = chain.wallet(place.payer_private_key)
    const held = await chain.balanceOf(payer.address)
    if (held < units) await mined(chain.mintUsdc(payer.address, units - held))
    const payment = { memo: `0x${before.memo}`, merchant: merchant_address, amount: units }
    const sent = await (byRouter ? chain.pay(payer, payment) : chain.transferUsdc(payer, deposit_address, units))
    console.log(`Sent ${usdcOf(units)} USDC ${byRouter ? 'through the router' : `to ${deposit_address}`}: ${sent.hash}`)
    await mined(sent)
    await watch(place, id, before, sent.hash)
  } finally {
    provider.destroy()
  }
}

function wanted() {
  const { values, positionals } = parsed()
  const id = ORDER_ID.exec(positionals[0] ?? '')?.[0]?.toLowerCase()
  if (!id || positionals.length > 1) throw new StepError(`Name one order. Usage: ${USAGE}`)
  if (values.amount !== undefined && !/^\d{1,9}(\.\d{1,6})?$/.test(values.amount))
    throw new StepError(`${values.amount} is no amount of USDC. Usage: ${USAGE}`)
  return { id, amount: values.amount === undefined ? undefined : unitsOf(values.amount), byRouter: values.router === true }
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

/** Token units of a decimal amount. */
const unitsOf = text => {
  const [whole, fraction = ''] = text.split('.')
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}

const usdcOf = units => `${units / 1_000_000n}.${String(units % 1_000_000n).padStart(6, '0')}`

await main().catch(fail)
