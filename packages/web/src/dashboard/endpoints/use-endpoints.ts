import type { WebhookEndpointBody } from '@ponte/contracts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../api/api'
import { useMay } from '../api/use-memberships'
import { urlOf } from '../forms/rules'
import { useWords } from '../texts/words'

const REFRESH_MS = 10_000
const KEY = ['endpoints']

/** The merchant's endpoints, the webhook_url first; none are asked for by who may not see them. */
export function useEndpoints() {
  const enabled = useMay('listWebhookEndpoints')
  return useQuery({ queryKey: KEY, queryFn: () => api.endpoints().then(({ data }) => data), refetchInterval: REFRESH_MS, enabled })
}

export function useEndpointsChanged(): () => void {
  const queries = useQueryClient()
  return () => void queries.invalidateQueries({ queryKey: KEY })
}

export function useEndpointName(): (endpoint: WebhookEndpointBody) => string {
  const { t } = useWords()
  return endpoint => (endpoint.is_default ? t.endpoints.main : (endpoint.description ?? hostOf(endpoint.url)))
}

const hostOf = (url: string | null) => (url === null ? '' : (urlOf(url)?.host ?? url))
