export * from './order-answer'
export * from './order-wait'
export * from './requests'
export * from './subscription-body'
