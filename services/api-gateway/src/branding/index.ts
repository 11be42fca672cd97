export { brandingRoutes, logoRoutes } from './branding-routes'
