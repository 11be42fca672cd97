import { supportedChains } from './supported-chains'

/** The reason why a mode does not fit the chain; null when it does. */
export function modeFault(
  mode: 'live' | 'test' | 'development',
  { chainId, development }: { chainId: number; development: boolean },
): string | null {
  const isForTests = development || supportedChains[chainId]?.isTestNet === true
  if (mode === 'live') return isForTests ? 'must be test or development: money on this chain is worth nothing' : null
  if (mode === 'test') return isForTests ? null : 'must be live: money on this chain is real'
  return development ? null : 'is development where DEVELOPMENT_CHAIN is true alone'
}
