/** A generation later than all of these, also where clocks disagree. */
export function newerThan(generations: readonly (string | null | undefined)[], made: string): string {
  const newest = generations.reduce<string>((last, one) => (one && one > last ? one : last), '')
  if (made > newest) return made
  const next = (BigInt(`0x${newest.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return [next.slice(0, 8), next.slice(8, 12), next.slice(12, 16), next.slice(16, 20), next.slice(20)].join('-')
}
