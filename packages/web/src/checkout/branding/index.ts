export { MerchantLinks, MerchantLogo } from './merchant-links'
export { useBranding } from './use-branding'
