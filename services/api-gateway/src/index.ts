import { join } from 'node:path'

export { type ApiGatewayConfig, apiGatewayConfig } from './config'
export { docsRoutes, quickstartPage } from './docs'
export { openApiDocument } from './openapi'
export { errorPage, securityHeaders } from './pages'
export { type ApiGatewayOverrides, createApiGateway } from './service'

/** Where this service's migrations are. */
export const apiGatewayMigrations = join(__dirname, '../prisma/migrations')
