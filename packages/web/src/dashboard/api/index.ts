export { api, type Query } from './api'
export { authUrl, clientKey, LoginFailed, logIn, logOut, refresh, signUp, useSession } from './session'
