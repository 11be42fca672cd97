import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChainBlocks, formatUsdc } from '@ponte/contracts'
import { quint, seedOption } from './quint'

/** A step of a run of spec/order.qnt that orders takes part in, and what the model says of the order afterwards. */
export interface TraceStep {
  /** The message that is read, again perhaps; else what the merchant asks for. */
  message: number | 'cancel' | 'accept' | Attach
  expected: OrderOutcome
}

/** Counts this payment for the order, which came on a chain that it did not offer. */
export interface Attach {
  attach: number
}

/** What a merchant sees of an order, and how often they were notified. */
export interface OrderOutcome {
  status: string
  exception: string | null
  paid: number
  expired: number
  cancelled: number
  underpaid: number
}

export interface Trace {
  messages: readonly ModelBlocks[]
  steps: readonly TraceStep[]
  /** Whether the order may be paid on the second chain; null where one alone is followed. */
  second: 'offered' | 'not offered' | null
  /** Half cents of each payment, and whether it went by the router. */
  amounts: ReadonlyMap<number, number>
  byRouter: ReadonlyMap<number, boolean>
}

interface ModelBlock {
  chain: number
  height: number
  fork: number
}
/** `Blocks` of the model. */
export interface ModelBlocks {
  chain: number
  generation: number
  version: number
  since: number
  from: number
  to: number
  gone: ModelBlock[]
  payments: { mined: { payment: number; block: ModelBlock }; confirmed: boolean }[]
  watched: number
}

interface ModelState {
  action_: { name: string; index: number }
  status: string
  exception: string
  paidNotices: number
  expiredNotices: number
  cancelledNotices: number
  underpaidNotices: number
  published: ModelBlocks[]
  amount: Map<number, number>
  router: Map<number, boolean>
  followed: number[]
  offered: number[]
}

/** Runs of spec/order.qnt, with deep reorganisations by its `step`. */
export const traces = async (count: number, seed: number, step: 'shallow' | 'step' = 'shallow'): Promise<Trace[]> =>
  (await sampledRuns<ModelState>('order', step, count, seed, 60)).map(traceOf)

/** Samples runs of a model and keeps the states of each; throws with the printed run when its invariant does not hold. */
export async function sampledRuns<State>(model: string, step: string, count: number, seed: number, maxSteps: number): Promise<State[][]> {
  const folder = await mkdtemp(join(tmpdir(), 'traces-'))
  try {
    const { code, output } = await quint(
      ...[
        'run',
        `spec/${model}.qnt`,
        `--main=${model}`,
        `--step=${step}`,
        '--invariant=safe',
        `--max-samples=${count}`,
        `--n-traces=${count}`,
      ],
      ...[`--max-steps=${maxSteps}`, seedOption(seed), '--verbosity=1', `--out-itf=${join(folder, '{seq}.json')}`],
    )
    if (code !== 0) throw new Error(output)
    const files = (await readdir(folder)).sort()
    return await Promise.all(files.map(async file => JSON.parse(await readFile(join(folder, file), 'utf8'), revive).states))
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** ITF writes integers, sets and maps as objects with one key. */
function revive(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('#bigint' in value) return Number(value['#bigint'])
  if ('#set' in value) return value['#set']
  if ('#map' in value) return new Map(value['#map'] as [unknown, unknown][])
  return value
}

function traceOf(states: readonly ModelState[]): Trace {
  const last = states.at(-1)
  if (!last) throw new Error('A run without a state.')
  const steps = states.flatMap(({ action_, status, exception, ...notices }): TraceStep[] => {
    const expected = {
      ...{ status, exception: exception === 'none' ? null : exception },
      ...{ paid: notices.paidNotices, expired: notices.expiredNotices },
      ...{ cancelled: notices.cancelledNotices, underpaid: notices.underpaidNotices },
    }
    if (action_.name === 'read') return [{ message: action_.index, expected }]
    if (action_.name === 'attach') return [{ message: { attach: action_.index }, expected }]
    return action_.name === 'cancel' || action_.name === 'accept' ? [{ message: action_.name, expected }] : []
  })
  const [opened] = states
  const isOne = opened?.followed.length === 1
  const second = isOne ? null : opened?.offered.length === 1 ? 'not offered' : 'offered'
  return { second, messages: last.published, steps, amounts: last.amount, byRouter: last.router }
}

const HALF_CENT = 5_000n

/** What of the order's own world stands in an event of the listener. */
export interface Place {
  orderId: string
  memo: string
  merchant: string
  /** The chains of the model, from the first on. */
  chains: readonly { chainId: number; router: string; token: string; deposit: string }[]
  /** The block time at the model's second. */
  time(second: number): Date
  /** Of the model's generation; a later run's are greater. */
  generation(number: number): string
  /** Of what else is named by a hash. */
  hash(name: string): string
}

export const txHashOf = (place: Place, payment: number): string => place.hash(`payment ${payment}`)

/** A message of the model as the listener would publish it. */
export function eventOf({ amounts, byRouter }: Trace, message: ModelBlocks, place: Place): ChainBlocks {
  const { generation, version, since, from, to, gone, payments, watched } = message
  const chain = place.chains[message.chain - 1]
  if (!chain) throw new Error(`There is no chain ${message.chain}.`)
  const hashOf = ({ chain, height, fork }: ModelBlock) => place.hash(`block ${chain} ${height} ${fork}`)
  // One that is stated as seen and as confirmed in one message is confirmed.
  const confirmed = new Set(payments.filter(one => one.confirmed).map(({ mined }) => `${mined.payment} ${hashOf(mined.block)}`))
  const distinct = new Map(payments.map(({ mined }) => [`${mined.payment} ${hashOf(mined.block)}`, mined]))
  return {
    ...{
      chain_id: chain.chainId,
      generation: place.generation(generation),
      lease: place.generation(generation),
      version,
      earlier: [],
      since,
    },
    ...{ head: 0, sweeps: [], gone: gone.map(hashOf) },
    advanced: to === 0 ? null : { from, to, time: place.time(to).toISOString() },
    payments: [...distinct].map(([key, { payment, block }]) => {
      const isRouter = byRouter.get(payment) === true
      return {
        ...{ kind: isRouter ? ('router' as const) : ('transfer' as const), is_confirmed: confirmed.has(key), memo: place.memo },
        ...{
          block_number: block.height,
          block_hash: hashOf(block),
          block_time: place.time(block.height).toISOString(),
          log_index: payment,
        },
        ...{ tx_hash: txHashOf(place, payment), amount: formatUsdc(BigInt(amounts.get(payment) ?? 0) * HALF_CENT) },
        ...{ router_address: chain.router, token_address: chain.token, merchant_address: place.merchant },
        ...{ payer_address: '0x90f79bf6eb2c4f870365e785982e1f101e93b906', deposit_address: isRouter ? null : chain.deposit },
      }
    }),
    watched: watched < 0 ? [] : [{ order_id: place.orderId, through: watched }],
  }
}
