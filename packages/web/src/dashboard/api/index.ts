export { api, type ListFile, type Query } from './api'
export { chooseMerchant, chosenMerchant, forgetMerchant } from './chosen-merchant'
export { authUrl, clientKey, LoginFailed, logIn, logOut, refresh, signUp, userId, useSession } from './session'
export { Allowed, useMay, useMemberships } from './use-memberships'
