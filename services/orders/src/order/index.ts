export { checkoutBody, historyBody, type OrderHistory, orderBody, type Place } from './body'
export { createOrderFactory, type OrderFactory } from './factory'
export { type Change, cancel, type Ledger, type Order, review, settle, supersede, withdraw } from './order'
export { type ChainView, verdictOf } from './verdict'
