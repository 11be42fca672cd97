import { databaseName, serviceNames } from '@ponte/all-in-one'
import { type CrashableServers, startCrashableServers } from '@ponte/local-servers'
import { type Books, OTHER_LISTENER } from '../ledger'

export interface Servers extends Omit<CrashableServers, 'postgres'> {
  postgres: Omit<CrashableServers['postgres'], 'url' | 'keep'> & {
    url(name: Books): string
    keep(name: Books): Promise<() => Promise<void>>
  }
}

const nameOf = (name: Books) => (name === OTHER_LISTENER ? 'ponte_other_listener' : databaseName(name))

export async function startServers(): Promise<Servers> {
  const { postgres, ...others } = await startCrashableServers([...serviceNames.map(nameOf), nameOf(OTHER_LISTENER)])
  return {
    ...others,
    postgres: {
      ...postgres,
      url: name => postgres.url(nameOf(name)),
      keep: name => postgres.keep(nameOf(name)),
    },
  }
}
