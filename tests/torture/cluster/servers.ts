import { databaseName, type ServiceName, serviceNames } from '@ponte/all-in-one'
import { type CrashableServers, startCrashableServers } from '@ponte/local-servers'
import { type Books, otherListener } from '../ledger'

export interface Servers extends Omit<CrashableServers, 'postgres'> {
  postgres: Omit<CrashableServers['postgres'], 'url' | 'keep'> & {
    url(name: Books): string
    keep(name: Books): Promise<() => Promise<void>>
  }
}

const nameOf = (name: Books) => (isService(name) ? databaseName(name) : name.replace(' ', '_'))
const isService = (name: Books): name is ServiceName => !name.includes(' ')

export async function startServers(otherChains: readonly number[] = []): Promise<Servers> {
  const { postgres, ...others } = await startCrashableServers([...serviceNames, ...otherChains.map(otherListener)].map(nameOf))
  return {
    ...others,
    postgres: {
      ...postgres,
      url: name => postgres.url(nameOf(name)),
      keep: name => postgres.keep(nameOf(name)),
    },
  }
}
