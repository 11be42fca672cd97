export * from './payer-subscription'
export * from './subscription'
