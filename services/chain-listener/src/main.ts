import { runService } from '@ponte/service-kit'
import { chainListenerConfig, chainListenerMigrations, createChainListener } from './index'

runService(process, {
  name: 'chain-listener',
  settings: chainListenerConfig,
  migrations: chainListenerMigrations,
  create: createChainListener,
})
