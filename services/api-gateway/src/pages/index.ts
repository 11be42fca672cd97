export { pages } from './pages'
export { securityHeaders } from './security-headers'
