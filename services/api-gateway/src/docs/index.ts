export { docsRoutes } from './docs-routes'
export { quickstartPage } from './guide'
