import { neededFor } from 'virtual:operation-permissions'
import type { OperationId, Permission } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from './api'
import { chosenMerchant } from './chosen-merchant'

/** The merchants that the user belongs to, and as what. */
export const useMemberships = () => useQuery({ queryKey: ['memberships'], queryFn: () => api.memberships().then(({ data }) => data) })

/** The role of the user at the merchant that is shown, and what it allows. */
function useMembership() {
  const { data, error } = useMemberships()
  const chosen = chosenMerchant()
  const shown = chosen === null ? data?.[0] : data?.find(({ merchant_id }) => merchant_id === chosen)
  return { shown, isUnknown: error !== null }
}
export const useRole = () => useMembership().shown?.role ?? null

/** Whether the user holds a permission at the merchant that is shown. When that cannot be known it is offered: the service decides. */
export function useHolds(): (permission: Permission) => boolean {
  const { shown, isUnknown } = useMembership()
  return permission => shown?.permissions.includes(permission) ?? isUnknown
}

export function useMay(operation: OperationId): boolean {
  const holds = useHolds()
  return neededFor[operation].every(holds)
}

/** What is offered to those alone who may do it. */
export const Allowed = ({ to, children }: { to: OperationId; children: ReactNode }) => (useMay(to) ? children : null)
