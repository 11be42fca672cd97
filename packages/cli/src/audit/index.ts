import type { Checkpoint, Ponte } from '@ponte/sdk'
import type { Output } from '../output'
import { MisuseError } from '../profile'
import { usdcOf } from './amount'
import { firstMisfit, overdueMisfit } from './checkpoint'
import {
  type AuditEntry,
  type AuditOrder,
  type AuditReport,
  type AuditTerms,
  type ChainFacts,
  compare,
  depositsOf,
  type Uncounted,
} from './compare'
import { PAYMENT_TOPIC, type RawLog, type RouterLog, TRANSFER_TOPIC, topicOf, toRouterLog, toTransferLog } from './logs'
import { type Node, openNode } from './node'

export interface AuditOptions {
  rpc: string
  payout: string[]
  router: string[]
  token: string
  fromBlock?: string
  toBlock?: string
  directFrom?: string
  confirmations?: string
  chainId?: string
  checkpoints?: boolean
}

const ADDRESSES_AT_ONCE = 500

/** Holds the ledger of a merchant against the merchant's own node. Answers how many differences there are. */
export async function audit(ponte: Ponte, options: AuditOptions, output: Output): Promise<number> {
  const rules = rulesOf(options)
  const node = openNode(options.rpc, to => output.note(`… block ${to}`))
  const chainId = await node.chainId()
  if (rules.chainId !== undefined && rules.chainId !== chainId)
    throw new MisuseError(`The node is of chain ${chainId}, and --chain-id is ${rules.chainId}.`)
  // Before anything is read of the ledger, so that the ledger is the newer one.
  const to = await lastBlock(node, rules)
  const terms: AuditTerms = { ...rules, chainId, to }
  output.note(`Chain ${chainId}, blocks ${terms.from} to ${to}`)
  const paid = (await logsOf(node, { address: terms.routers, topics: [PAYMENT_TOPIC, null, terms.payouts.map(topicOf)] }, terms)).map(
    toRouterLog,
  )
  const { entries, orders, uncounted } = await readLedger(ponte, output)
  const other = [...entries.map(one => one.chain_id), ...orders.map(({ payment }) => payment.chain_id)].find(id => id !== chainId)
  if (other !== undefined && rules.chainId === undefined)
    throw new MisuseError(
      `The node is of chain ${chainId}, and the ledger of chain ${other}. Where it has both, name one: --chain-id ${chainId}`,
    )
  const chain = await readChain(node, terms, paid, orders)
  const report = compare(chain, entries, orders, terms, uncounted)
  const misfit = options.checkpoints ? await checkCheckpoints(ponte, node, terms, output) : undefined
  show(report, terms, entries.length, misfit, output)
  return report.differences.length + (misfit?.misfit ? 1 : 0)
}

const ADDRESS = /^0x[0-9a-f]{40}$/
const numberIn = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text)) throw new MisuseError(`${name} is a number.`)
  return Number(text)
}

function rulesOf({ payout, router, token, fromBlock, toBlock, directFrom, confirmations, chainId, rpc }: AuditOptions) {
  if (!/^https?:\/\//.test(rpc) || !URL.canParse(rpc)) throw new MisuseError('--rpc is the http(s) URL of your node.')
  const named = { '--payout': payout, '--router': router, '--token': [token] }
  for (const [name, addresses] of Object.entries(named)) {
    const wrong = addresses.find(address => !ADDRESS.test(address.toLowerCase()))
    if (wrong !== undefined) throw new MisuseError(`${name} is 0x and 40 hex digits: ${wrong}`)
  }
  const lower = (addresses: readonly string[]) => [...new Set(addresses.map(address => address.toLowerCase()))]
  return {
    ...{ payouts: lower(payout), routers: lower(router), token: token.toLowerCase(), from: numberIn('--from-block', fromBlock) ?? 0 },
    wantedTo: numberIn('--to-block', toBlock),
    directFrom: numberIn('--direct-from', directFrom) ?? 0,
    ...{ confirmations: numberIn('--confirmations', confirmations), chainId: numberIn('--chain-id', chainId) },
  }
}

async function lastBlock(node: Node, { from, wantedTo, confirmations }: ReturnType<typeof rulesOf>): Promise<number> {
  const block = await node.block(confirmations === undefined ? 'finalized' : 'latest')
  if (!block) throw new Error('The node names no finalized block. Name a depth instead, as in --confirmations 20')
  const last = confirmations === undefined ? block.number : block.number - Math.max(1, confirmations) + 1
  const to = Math.min(last, wantedTo ?? last)
  if (to < from) throw new MisuseError(`Block ${from} is not final on the node yet; the last one that is, is ${last}.`)
  return to
}

const logsOf = async (
  node: Node,
  filter: Parameters<Node['logs']>[0],
  { from, to }: Pick<AuditTerms, 'from' | 'to'>,
): Promise<RawLog[]> => {
  const addresses = [filter.address].flat()
  const logs = await node.logs(filter, from, to)
  const foreign = logs.find(({ address }) => !addresses.includes(address.toLowerCase()))
  if (foreign) throw new Error(`The node answered a log of ${foreign.address}, which it was not asked for.`)
  return logs
}

interface ShownLedger {
  entries: AuditEntry[]
  orders: AuditOrder[]
  uncounted: Uncounted[]
}

async function readLedger(ponte: Ponte, output: Output): Promise<ShownLedger> {
  const entries: AuditEntry[] = []
  for (let after = '0'; ; ) {
    const page = await ponte.entries.list({ after, limit: 100 })
    entries.push(...page.data)
    if (!page.has_more) break
    after = page.next_cursor
    output.note(`… entry ${entries.length}`)
  }
  const orders: AuditOrder[] = []
  for await (const { id, memo, payment } of ponte.orders.list({ limit: 100 })) orders.push({ id, memo, payment })
  output.note(`${entries.length} entries and ${orders.length} orders`)
  const today = new Date().toISOString().slice(0, 10)
  const { uncounted } = await ponte.entries.summary({ from: today, to: today, timezone: 'UTC' })
  return { entries, orders, uncounted }
}

async function readChain(node: Node, terms: AuditTerms, paid: RouterLog[], orders: readonly AuditOrder[]): Promise<ChainFacts> {
  const addresses = [
    ...depositsOf(
      [...orders, ...paid].map(({ memo }) => memo),
      terms,
    ).keys(),
  ]
  const transfers = async (topics: unknown[]) =>
    (await logsOf(node, { address: terms.token, topics: [TRANSFER_TOPIC, ...topics] }, terms)).map(toTransferLog)
  const deposited = []
  for (let first = 0; first < addresses.length; first += ADDRESSES_AT_ONCE)
    deposited.push(
      ...(await transfers([null, addresses.slice(first, first + ADDRESSES_AT_ONCE).map(topicOf)])).filter(({ amount }) => amount > 0n),
    )
  const payouts = terms.payouts.map(topicOf)
  return { paid, deposited, received: await transfers([null, payouts]), sent: await transfers([payouts]) }
}

interface Checked {
  count: number
  last: Checkpoint | undefined
  misfit: { to_block: number; detail: string } | null
}

async function checkCheckpoints(ponte: Ponte, node: Node, terms: AuditTerms, output: Output): Promise<Checked> {
  const all: Checkpoint[] = []
  for await (const one of ponte.chain.checkpoints.all({ limit: 100 })) all.push(one)
  const covered = all.filter(({ to_block }) => to_block <= terms.to)
  const [first, last] = [covered[0], covered.at(-1)]
  if (!first || !last) return { count: 0, last: undefined, misfit: overdueMisfit(undefined, terms) }
  output.note(`${covered.length} checkpoints, to block ${last.to_block}`)
  const routers = [...new Set([...terms.routers, ...all.flatMap(one => one.router_addresses.map(router => router.toLowerCase()))])]
  const logs = (await logsOf(node, { address: routers, topics: [PAYMENT_TOPIC] }, { from: first.from_block, to: last.to_block })).map(
    toRouterLog,
  )
  const hashes = new Map<number, string>()
  for (const { to_block } of covered) {
    const block = await node.block(to_block)
    if (block) hashes.set(to_block, block.hash)
  }
  return { count: covered.length, last, misfit: firstMisfit(all, { ...terms, logs, hashes }) ?? overdueMisfit(all.at(-1), terms) }
}

function show(report: AuditReport, terms: AuditTerms, entries: number, checked: Checked | undefined, output: Output): void {
  const { differences, direct, uncounted, unchecked, sums } = report
  const decimals = ({ came, fee, settled }: AuditReport['sums']['node']) => ({
    came: usdcOf(came),
    fee: usdcOf(fee),
    settled: usdcOf(settled),
  })
  const [node, ledger] = [decimals(sums.node), decimals(sums.ledger)]
  const lines = [
    ...differences.map(({ kind, tx_hash, log_index, detail }) =>
      tx_hash === null ? `DIFFERENCE  ${kind}: ${detail}` : `DIFFERENCE  ${kind}: log ${log_index} of ${tx_hash}: ${detail}`,
    ),
    ...(checked?.misfit ? [`DIFFERENCE  checkpoint ${checked.misfit.to_block}: ${checked.misfit.detail}`] : []),
    ...direct.map(
      one =>
        `information  past the routers, not compared: ${usdcOf(one.amount)} USDC from ${one.from} to ${one.to}, log ${one.logIndex} of ${one.txHash}`,
    ),
    ...uncounted.map(
      ({ address, from_block, transfers, amount }) =>
        `information  not counted by this installation from block ${from_block} on: ${usdcOf(amount)} USDC to ${address}, in ${transfers === 1 ? 'one transfer' : `${transfers} transfers`} past the routers`,
    ),
    `Blocks ${terms.from} to ${terms.to} of chain ${terms.chainId}: ${entries} entries, ${unchecked} of them of other blocks or chains.`,
    `node:   came ${node.came}, fee ${node.fee}, settled ${node.settled} USDC`,
    `ledger: came ${ledger.came}, fee ${ledger.fee}, settled ${ledger.settled} USDC`,
    ...(checked
      ? [
          checked.last
            ? `${checked.count} checkpoints; the one of block ${checked.last.to_block} is ${checked.last.hash}`
            : 'No checkpoint of these blocks yet.',
        ]
      : []),
    ...(differences.length === 0 && !checked?.misfit
      ? [uncounted.length === 0 ? 'The node and the ledger agree.' : 'The node and the ledger agree on all that is counted.']
      : []),
  ]
  const found = {
    ...{ chain_id: terms.chainId, from_block: terms.from, to_block: terms.to, entries, unchecked, differences },
    direct: direct.map(({ txHash, logIndex, blockNumber, from, to, amount }) => ({
      ...{ tx_hash: txHash, log_index: logIndex, block_number: blockNumber, from_address: from, to_address: to, amount: usdcOf(amount) },
    })),
    uncounted: uncounted.map(one => ({ ...one, amount: usdcOf(one.amount) })),
    sums: { node, ledger },
    ...(checked ? { checkpoints: { count: checked.count, last_hash: checked.last?.hash ?? null, first_misfit: checked.misfit } } : {}),
  }
  output.show(found, lines.join('\n'))
}
