import type { NetworkBody } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import { api } from './api'

/** The networks of this installation, that of every order first; none while they are not known. */
export function useNetworks(): readonly NetworkBody[] {
  const { data } = useQuery({ queryKey: ['networks'], queryFn: api.networks, staleTime: Number.POSITIVE_INFINITY })
  return data?.data ?? []
}
