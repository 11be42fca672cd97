export { FIRST_WIDTH, type HeldLane, type InFlight, type Lease } from './lane'
export { createLaneBook, type LaneBook } from './lane-book'
export type { Completion, LaneStep } from './lane-steps'
