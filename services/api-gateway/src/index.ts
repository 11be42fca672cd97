import { join } from 'node:path'

export { type ApiGatewayConfig, apiGatewayConfig } from './config'
export { docsRoutes } from './docs/docs-routes'
export { quickstartPage } from './docs/guide/guide-pages'
export * as accountRules from './merchant/rules'
export { openApiDocument } from './openapi/document'
export { errorPage } from './pages/error-page'
export { securityHeaders } from './pages/security-headers'
export { withTestBanner } from './pages/test-banner'
export { type ApiGatewayOverrides, createApiGateway } from './service'

export const apiGatewayMigrations = join(__dirname, '../prisma/migrations')
