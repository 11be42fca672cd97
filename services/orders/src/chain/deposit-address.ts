import { depositAddress } from '@ponte/payment-router'
import { LRUCache } from 'lru-cache'

/** The router stands at one address on every network: what one of them asks for of an order, the others ask for next. */
const made = new LRUCache<string, string>({ max: 100 })

/** Where plain transfers pay an order, by the contract that makes such addresses; nowhere when there is none. */
export function depositAddresses(factory: string | undefined): (memo: string, merchantAddress: string) => string | null {
  if (factory === undefined) return () => null
  return (memo, merchant) => {
    const terms = `${factory} ${memo} ${merchant}`
    const address = made.get(terms) ?? depositAddress({ router: factory, memo, merchant })
    made.set(terms, address)
    return address
  }
}
