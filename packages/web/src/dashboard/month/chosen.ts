import type { EntryBody } from '@ponte/contracts'
import { formatUsdc, parseUsdc } from '@ponte/contracts/money'

/** Movements of a dossier, by sequence: each with its amount. */
export type Chosen = ReadonlyMap<number, string>

/** A dossier can be of these: they reached a payout address, and none of these entries takes them back. */
export function originsIn(entries: readonly EntryBody[]): EntryBody[] {
  const reversed = new Set(entries.map(({ reverses }) => reverses))
  return entries.filter(
    ({ kind, reverses, sequence }) => (kind === 'settled' || kind === 'direct') && reverses === null && !reversed.has(sequence),
  )
}

/** The same with these movements added, or without them. */
export function chooseAlso(chosen: Chosen, entries: readonly Pick<EntryBody, 'sequence' | 'amount'>[], isChosen: boolean): Chosen {
  const after = new Map(chosen)
  for (const { sequence, amount } of entries) {
    if (isChosen) after.set(sequence, amount)
    else after.delete(sequence)
  }
  return after
}

export const sumOf = (chosen: Chosen): string => formatUsdc([...chosen.values()].reduce((sum, amount) => sum + parseUsdc(amount), 0n))
