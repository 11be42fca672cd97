import { supportedChains } from './supported-chains'

/** Why a deployment on this chain cannot be what it says it is; null when it can. */
export function modeFault(
  mode: 'live' | 'test' | 'development',
  { chainId, development }: { chainId: number; development: boolean },
): string | null {
  const isForTests = development || supportedChains[chainId]?.isTestNet === true
  if (mode === 'live') return isForTests ? 'must be test or development: money on this chain is worth nothing' : null
  if (mode === 'test') return isForTests ? null : 'must be live: money on this chain is real'
  return development ? null : 'is development where DEVELOPMENT_CHAIN is true alone'
}
