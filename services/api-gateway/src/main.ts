import { runService } from '@ponte/service-kit'
import { apiGatewayConfig, apiGatewayMigrations, createApiGateway } from './index'

runService(process, {
  name: 'api-gateway',
  settings: apiGatewayConfig,
  migrations: apiGatewayMigrations,
  create: createApiGateway,
})
