import { depositAddress } from '@ponte/payment-router'

/** Where plain transfers pay an order, by the contract that makes such addresses; nowhere when there is none. */
export function depositAddresses(factory: string | undefined): (memo: string, merchantAddress: string) => string | null {
  if (factory === undefined) return () => null
  return (memo, merchant) => depositAddress({ router: factory, memo, merchant })
}
