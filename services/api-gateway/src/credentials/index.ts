export { API_KEY_ENTROPY_BYTES, derivedEntropy, mintApiKey } from './api-key'
export { merchantCaller, rememberTerms, requireApiKey, requireSession, termsIn, userIn } from './credentials'
export { type SessionTokens, sessionTokens } from './session-token'
