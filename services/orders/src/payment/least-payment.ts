import { CENT } from '@ponte/contracts'

/** So many payments an order takes whatever they are worth. */
const FREE = 100
/** With so many more, the least that the next one must be worth doubles. */
const DOUBLING = 100

/**
 * What one more payment must be worth to count for an order that has so many. All of them are read with each report about one, so many of nothing would
 * hold up every order. To keep a payment out costs fifty times its amount at least, which the merchant receives.
 */
export const leastPayment = (count: number): bigint => (count < FREE ? 0n : CENT << BigInt(Math.floor((count - FREE) / DOUBLING)))
