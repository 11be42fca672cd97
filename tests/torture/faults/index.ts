export { createDeck } from './deck'
export { type Fault, faultsOf } from './faults'
