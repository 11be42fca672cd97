export { API_KEY_ENTROPY_BYTES, type DerivedFrom, deriveApiKey, deriveApiKeyAgain, mintApiKey } from './api-key'
export {
  type KeyTerms,
  mayDo,
  merchantCaller,
  rememberAccess,
  rememberTerms,
  requireApiKey,
  requirePermission,
  requirePermissionFor,
  requireSession,
  termsIn,
  userIn,
} from './credentials'
export { type SessionTokens, sessionTokens } from './session-token'
