import type { Permission } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from './api'
import { chosenMerchant } from './chosen-merchant'

/** The merchants that the user belongs to, and as what. */
export const useMemberships = () => useQuery({ queryKey: ['memberships'], queryFn: () => api.memberships().then(({ data }) => data) })

/** Whether the user may do this at the merchant that is shown. What is not known yet is offered: the service decides. */
export function useMay(permission: Permission): boolean {
  const { data = [] } = useMemberships()
  const chosen = chosenMerchant()
  const shown = chosen === null ? data[0] : data.find(({ merchant_id }) => merchant_id === chosen)
  return shown?.permissions?.includes(permission) ?? true
}

/** What is offered to those alone who may do it. */
export const Allowed = ({ to, children }: { to: Permission; children: ReactNode }) => (useMay(to) ? children : null)
