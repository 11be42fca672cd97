import type { NetworkBody } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import { api } from './api'

/** The networks of this installation, that of every order first; none while they are not known. */
export function useNetworks(): readonly NetworkBody[] {
  const { data } = useQuery({ queryKey: ['networks'], queryFn: api.networks, staleTime: Number.POSITIVE_INFINITY })
  return data?.data ?? []
}

/** Names a chain where there are several networks; one that is followed no more by its number. */
export function useNetworkName(): (chainId: number | null) => string | null {
  const networks = useNetworks()
  return chainId => {
    if (networks.length < 2 || chainId === null) return null
    return networks.find(({ chain_id }) => chain_id === chainId)?.network ?? String(chainId)
  }
}
