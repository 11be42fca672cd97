import { z } from 'zod'

/** Of what a dossier is to show the origins: a sum that left a payout address, or named entries. Kept with its job. */
export const dossierBasis = z.object({
  /** In units; null where entries are named. */
  amount: z.string().nullable(),
  payoutAddress: z.string().nullable(),
  entries: z.array(z.number()).nullable(),
  /** Of all its origins; the first network's where a release that knew no other kept none. */
  chainId: z.number().nullable().default(null),
  /** As the caller knew it, until our copy of the merchant has it. */
  merchantName: z.string(),
})
export type DossierBasis = z.infer<typeof dossierBasis>

export interface Reached {
  sequence: number
  units: bigint
}

export interface Chosen extends Reached {
  counted: bigint
}

/** The newest entries that make up this sum: the last of them in part. Null where all of them are less. */
export function chooseByAmount(newestFirst: readonly Reached[], wanted: bigint): Chosen[] | null {
  const chosen: Chosen[] = []
  let left = wanted
  for (const one of newestFirst) {
    if (left === 0n) break
    const rest = left - one.units
    chosen.push({ ...one, counted: rest < 0n ? left : one.units })
    left = rest < 0n ? 0n : rest
  }
  return left === 0n ? chosen : null
}

export const sumOf = (all: readonly Reached[]): bigint => all.reduce((sum, { units }) => sum + units, 0n)

/** The rule by which the origins were chosen, as it stands in the file. */
export const ruleOf = ({ amount }: Pick<DossierBasis, 'amount'>): string =>
  amount === null
    ? 'The entries that were named, each in full.'
    : 'The newest entries (settled, direct) of the ledger that reached the payout address, by sequence, up to the amount; the oldest of them counts as far as the amount needs it.'
