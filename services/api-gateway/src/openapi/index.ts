export { docsRoutes } from './docs-routes'
export { operations } from './operations'
