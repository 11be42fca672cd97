/**
 * Chains of a run over so many networks. Of three, Base, Polygon and Arbitrum by the ids of their test networks, which have the profiles of the main ones: a
 * main net is refused as a development chain.
 */
const CHAIN_IDS: Record<number, readonly [number, ...number[]]> = {
  1: [31_337],
  2: [31_337, 31_338],
  3: [84_532, 80_002, 421_614],
}

export function chainIdsOf(networks: number): readonly [number, ...number[]] {
  const ids = CHAIN_IDS[networks]
  if (!ids) throw new RangeError(`There are runs over ${Object.keys(CHAIN_IDS).join(', ')} networks.`)
  return ids
}
