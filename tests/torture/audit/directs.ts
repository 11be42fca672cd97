import type { EntryListBody } from '@ponte/contracts'
import type { LocalChain } from '@ponte/local-servers'
import type { Step } from '../../days/facts'
import { differences, ledgersOf, type Movement, sums } from '../../days/oracle'
import { call, units } from '../../world'
import type { Audited } from '.'
import { type ChainRecord, chainRecord } from './chain-record'
import { type Payout, payoutsOn, publishedPayouts } from './payouts'
import { type Transfer, transfersOf } from './transfers'

/** Plain transfers to payout addresses, each for whom it belonged to at its block's time, by the token's transfers alone. */
export const directsOf = (transfers: readonly Transfer[], payouts: readonly Payout[], platform: string): Movement[] =>
  movementsOf(transfers, payouts, platform, new Map()).filter(({ kind }) => kind === 'direct')

/** All that moved, by steps that came before it and the memo of each transaction through a router. */
function movementsOf(
  transfers: readonly Transfer[],
  before: readonly Step[],
  platform: string,
  memos: ReadonlyMap<string, string>,
): Movement[] {
  const blocks = [...Map.groupBy(transfers, ({ txHash }) => txHash)].flatMap(([hash, moved]): Step[] => {
    const [first] = moved
    if (!first) return []
    const inOrder = moved.toSorted((a, b) => a.logIndex - b.logIndex)
    const moves = inOrder.map(({ from, to, amount }) => ({ from, to, units: amount }))
    const transaction = { hash, memo: memos.get(hash) ?? null, nonce: null, transfers: moves }
    const time = first.time * 1_000
    return [{ kind: 'confirmed', at: time, block: { number: first.block, hash: first.blockHash, time, transaction } }]
  })
  return ledgersOf([...before, ...blocks], platform.toLowerCase())
}

export interface SeenDirect {
  tx_hash: string
  address: string | null
  amount: string
}

/** Where a merchant's entries differ from those transfers, to the unit; empty where they do not. */
export const directDifferences = (merchant: string, seen: readonly SeenDirect[], directs: readonly Movement[]): string[] =>
  differences(
    `direct transfers of merchant ${merchant}`,
    sums(
      seen.map(entry => ({ ...entry, units: units(entry.amount) })),
      ({ tx_hash, address }) => `${tx_hash} to ${address?.toLowerCase()}`,
    ),
    sums(
      directs.filter(each => each.merchant === merchant),
      ({ txHash, payout }) => `${txHash} to ${payout}`,
    ),
  )

/** Of all chains, each by its own transfers, and by where merchants and orders are paid there. */
export async function movementsOn(audited: Pick<Audited, 'chains' | 'routers' | 'ledger'>): Promise<Movement[]> {
  const { chains, ledger } = audited
  const [published, record] = [await publishedPayouts(ledger), await chainRecord(audited)]
  const memos = new Map([...record.payments, ...record.sweeps].map(({ txHash, memo }) => [txHash, memo]))
  const found = chains.map(async chain => {
    const before = [...payoutsOn(published, chain.chainId), ...askedOn(chain, record)]
    return movementsOf(await transfersOf(chain), before, chain.feeReceiver, memos)
  })
  return (await Promise.all(found)).flat()
}

/** Sums in reais are no part of this. */
const askedOn = (chain: LocalChain, { addresses }: ChainRecord): Step[] =>
  [...(addresses.get(chain) ?? [])].map(([deposit, { memo, merchant, merchantId }]) => ({
    ...{ kind: 'asked', at: 0 },
    order: { id: memo, merchant: merchantId, memo, payout: merchant, deposit, units: 0n, rate: 0n },
  }))

/** Every merchant's entries of plain transfers, as the API lists them, are those of the chain. */
export async function directsAgainstChain(audited: Audited): Promise<string[]> {
  const { cluster, traffic } = audited
  const directs = (await movementsOn(audited)).filter(({ kind }) => kind === 'direct')
  const found: string[] = []
  for (const { body } of [...traffic.merchants, ...traffic.tills])
    found.push(...directDifferences(body.id, await entriesOf(cluster.gatewayUrls[0] ?? '', body.api_key), directs))
  return found
}

async function entriesOf(gateway: string, apiKey: string): Promise<SeenDirect[]> {
  const entries: SeenDirect[] = []
  for (let after = '0'; ; ) {
    const page = await call<EntryListBody>(gateway, 'GET', `/api/v1/entries?kind=direct&limit=100&after=${after}`, apiKey)
    entries.push(...page.data)
    if (!page.has_more) return entries
    after = page.next_cursor
  }
}
