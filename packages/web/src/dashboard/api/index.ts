export { api, type ListFile, type Query } from './api'
export { chooseMerchant, chosenMerchant, forgetMerchant } from './chosen-merchant'
export { authUrl, clientKey, LoginFailed, logIn, logOut, refresh, signUp, userId, useSession } from './session'
export { useMemberships } from './use-memberships'
