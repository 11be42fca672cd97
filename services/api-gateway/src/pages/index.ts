export type { SessionProvider } from './dashboard-session'
export { errorPage } from './error-page'
export { pages } from './pages'
export { securityHeaders } from './security-headers'
