import { useQuery } from '@tanstack/react-query'
import { api } from './api'

/** The merchants that the user belongs to, and as what. */
export const useMemberships = () => useQuery({ queryKey: ['memberships'], queryFn: () => api.memberships().then(({ data }) => data) })
