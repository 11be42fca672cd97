export { type Change, type Merchant, termsOf } from './merchant'
export { merchantRoutes, own } from './merchant-routes'
