import { type ServiceName, serviceNames } from '@ponte/all-in-one'
import { type CrashableServers, startCrashableServers } from '@ponte/local-servers'

export interface Servers extends Omit<CrashableServers, 'postgres'> {
  postgres: Omit<CrashableServers['postgres'], 'url' | 'keep'> & {
    url(service: ServiceName): string
    keep(service: ServiceName): Promise<() => Promise<void>>
  }
}

const databaseOf = (service: ServiceName) => service.replaceAll('-', '_')

export async function startServers(): Promise<Servers> {
  const { postgres, ...others } = await startCrashableServers(serviceNames.map(databaseOf))
  return {
    ...others,
    postgres: {
      ...postgres,
      url: service => postgres.url(databaseOf(service)),
      keep: service => postgres.keep(databaseOf(service)),
    },
  }
}
