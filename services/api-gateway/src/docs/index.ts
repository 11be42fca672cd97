export { docsRoutes } from './docs-routes'
export { mark } from './docs-style'
export { quickstartPage } from './guide'
