import type { WebhookEndpointBody } from '@ponte/contracts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../api'
import { urlOf } from '../forms'
import { useWords } from '../texts'

const REFRESH_MS = 10_000
const KEY = ['endpoints']

/** The merchant's endpoints, the webhook_url first. */
export const useEndpoints = () =>
  useQuery({ queryKey: KEY, queryFn: () => api.endpoints().then(({ data }) => data), refetchInterval: REFRESH_MS })

/** Called when one has changed. */
export function useEndpointsChanged(): () => void {
  const queries = useQueryClient()
  return () => void queries.invalidateQueries({ queryKey: KEY })
}

/** What a merchant knows an endpoint by. */
export function useEndpointName(): (endpoint: WebhookEndpointBody) => string {
  const { t } = useWords()
  return endpoint => (endpoint.is_default ? t.endpoints.main : (endpoint.description ?? hostOf(endpoint.url)))
}

const hostOf = (url: string | null) => (url === null ? '' : (urlOf(url)?.host ?? url))
