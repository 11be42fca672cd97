import { parseArgs } from 'node:util'
import { fail, StepError } from '../develop/steps.mjs'
import { audit } from './audit.mjs'
import { ask, namedAmong, opsUrls, otherNetworks } from './ops-ports.mjs'

// The operator's own audit: asks chain-listener, orders and webhook-dispatcher, and api-gateway and subscriptions where they are named, on their ops ports for their rows, and judges them by tests/audit, which
// imports nothing of theirs. Of several networks it asks each one's listener; the blocks that are named are the first one's. Ends with 1 when anything differs. With --restored 2026-11-22T14:00:00Z/2026-11-22T14:20:00Z the orders that a restored database
// of orders forgot are named with their money, and are no difference (docs/operating/recover.md). What is of a --retired network is held against nothing.
const LOOK_AGAIN_MS = 3_000
/** All other rows are worked out from these. */
const ROOTS = /: (?:payment|sweep) /
const USAGE =
  'Usage: reconcile [--from-block N] [--to-block N] [--restored <moment restored to>/<moment of restoring>]… [--retired <chain id>]…'
const { PAYMENT_TOLERANCE_UNITS: TOLERANCE, PTAX_URL } = process.env

async function main() {
  const { values } = parseArgs({
    options: {
      'from-block': { type: 'string' },
      'to-block': { type: 'string' },
      restored: { type: 'string', multiple: true, default: [] },
      retired: { type: 'string', multiple: true, default: [] },
    },
  })
  const others = otherNetworks().filter(name => name.startsWith('chain-listener'))
  const named = opsUrls(['chain-listener', 'orders', 'webhook-dispatcher', ...namedAmong(['api-gateway', 'subscriptions']), ...others])
  const urls = { ...named, otherListeners: others.map(name => named[name]) }
  const from = blockOf(values['from-block']) ?? 0
  const restored = values.restored.map(spanOf)
  const options = {
    from,
    to: blockOf(values['to-block']),
    restored,
    retired: values.retired.map(chainOf),
    ...(PTAX_URL ? { ptaxUrl: PTAX_URL } : {}),
    ...(TOLERANCE === undefined ? {} : { toleranceLimit: BigInt(TOLERANCE) }),
  }
  const look = () =>
    audit(urls, options).catch(error => {
      throw new StepError(error.cause?.message ?? error.message)
    })
  let report = await look()
  if (report.differences.length > 0) {
    // An event between two services arrives a moment later; only a lasting difference counts.
    await new Promise(resolve => setTimeout(resolve, LOOK_AGAIN_MS))
    const again = await look()
    const first = new Set(report.differences)
    report = { ...again, differences: again.differences.filter(difference => first.has(difference)) }
  }
  await print([urls['chain-listener'], ...urls.otherListeners], report)
  if (report.differences.length > 0) process.exitCode = 1
}

function blockOf(text) {
  if (text === undefined) return undefined
  if (!/^\d+$/.test(text)) throw new StepError(`A block is a number. ${USAGE}`)
  return Number(text)
}

function chainOf(text) {
  if (!/^\d+$/.test(text)) throw new StepError(`A chain id is a number. ${USAGE}`)
  return Number(text)
}

function spanOf(text) {
  const [from, until] = text.split('/').map(moment => new Date(moment))
  if (!(from <= until)) throw new StepError(`A span is two moments. ${USAGE}`)
  return { from, until }
}

async function print(listeners, { networks, orders, events, addresses, lost, unchecked, differences }) {
  const of = chainId => (networks.length === 1 ? '' : ` of chain ${chainId}`)
  for (const { chainId, from, to, payments, unmatched } of networks)
    console.log(
      `Blocks ${from} to ${to}${of(chainId)}: ${payments} payments, ${unmatched} of them settle nothing and are kept with the reason.`,
    )
  console.log(`${orders} orders, ${addresses} deposit addresses and ${events} events of merchants.`)
  for (const [index, listener] of listeners.entries()) {
    const { count, total, oldest_first } = await ask(listener, '/deposits')
    if (count === 0) continue
    console.log(`${count} deposit addresses hold ${total} USDC that is not swept yet${of(networks[index].chainId)}:`)
    for (const one of oldest_first)
      console.log(`  ${one.deposit_address}  ${one.amount} USDC for ${one.age_seconds} s, order ${one.order_id}`)
  }
  for (const { id, merchant, madeAt, asked, paid } of lost)
    console.log(`LOST  order ${id} of merchant ${merchant}, made at ${madeAt.toISOString()}: ${asked} USDC asked, ${paid} paid`)
  for (const reason of unchecked) console.log(`UNCHECKED  ${reason}`)
  const [roots, rest] = [true, false].map(isRoot => differences.filter(one => ROOTS.test(one) === isRoot))
  for (const difference of [...roots, ...rest]) console.log(`DIFFERENCE  ${difference}`)
  console.log(differences.length === 0 ? 'The chain and the books agree.' : `${differences.length} differences.`)
  if (roots.length > 0 && rest.length > 0)
    console.log(
      'Begin with the payments and sweeps: what an order and the ledger state follows from them, and differs until they are right.',
    )
}

await main().catch(fail)
