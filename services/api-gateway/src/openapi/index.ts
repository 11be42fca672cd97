export { docsRoutes } from './docs-routes'
export { openApiDocument } from './document'
export { operations } from './operations'
