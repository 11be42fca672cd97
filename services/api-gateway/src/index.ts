import { join } from 'node:path'

export { type ApiGatewayConfig, apiGatewayConfig } from './config'
export { quickstartPage } from './docs'
export { openApiDocument } from './openapi'
export { type ApiGatewayOverrides, createApiGateway } from './service'

/** Where this service's migrations are. */
export const apiGatewayMigrations = join(__dirname, '../prisma/migrations')
