import type { NetworkBody } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import { networkName } from '../../networks'
import { api } from './api'

const none: readonly NetworkBody[] = []

/** The networks of this installation by their public names, that of every order first; none while they are not known. */
export function useNetworks(): readonly NetworkBody[] {
  const { data = none } = useQuery({
    ...{ queryKey: ['networks'], queryFn: api.networks, staleTime: Number.POSITIVE_INFINITY },
    select: ({ data }) => data.map(one => ({ ...one, network: networkName(one.chain_id, one.network) })),
  })
  return data
}

/** Names a chain where there are several networks, also one that is followed no more. */
export function useNetworkName(): (chainId: number | null) => string | null {
  const networks = useNetworks()
  return chainId => {
    if (networks.length < 2 || chainId === null) return null
    return networks.find(({ chain_id }) => chain_id === chainId)?.network ?? networkName(chainId, String(chainId))
  }
}
