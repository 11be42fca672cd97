export { createIdentityProvider, type IdentityProvider } from './provider'
export type { Mail } from './recovery'
