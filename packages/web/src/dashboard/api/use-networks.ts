import { useQuery } from '@tanstack/react-query'
import { networks as known } from '../../networks'
import { api } from './api'

export interface NamedNetwork {
  chainId: number
  name: string
}

/** The networks of this installation, the first of every order first; none while they are not known. */
export function useNetworks(): readonly NamedNetwork[] {
  const { data } = useQuery({ queryKey: ['networks'], queryFn: api.networks, staleTime: Number.POSITIVE_INFINITY })
  return (data?.data ?? []).map(({ chain_id: chainId, network }) => ({ chainId, name: known[chainId]?.chainName ?? network }))
}
