import { runService } from '@ponte/service-kit'
import { chainListenerMigrations, createRelayer, relayerConfig } from './index'

runService(process, {
  name: 'relayer',
  settings: relayerConfig,
  migrations: chainListenerMigrations,
  create: createRelayer,
})
