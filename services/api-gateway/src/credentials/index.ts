export { API_KEY_ENTROPY_BYTES, type DerivedFrom, deriveApiKey, deriveApiKeyAgain, KEY_SHOWN_AGAIN_MS, mintApiKey } from './api-key'
export {
  actorIdIn,
  callerIn,
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
