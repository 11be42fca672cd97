import { databaseName, type ServiceName, serviceNames } from '@ponte/all-in-one'
import { type CrashableServers, startCrashableServers } from '@ponte/local-servers'

export interface Servers extends Omit<CrashableServers, 'postgres'> {
  postgres: Omit<CrashableServers['postgres'], 'url' | 'keep'> & {
    url(service: ServiceName): string
    keep(service: ServiceName): Promise<() => Promise<void>>
  }
}

export async function startServers(): Promise<Servers> {
  const { postgres, ...others } = await startCrashableServers(serviceNames.map(databaseName))
  return {
    ...others,
    postgres: {
      ...postgres,
      url: service => postgres.url(databaseName(service)),
      keep: service => postgres.keep(databaseName(service)),
    },
  }
}
