/** The sample payer treats orders of the same amount in the same way. */
export interface Scenario {
  /** Centavos of `brl_amount`. */
  centavos: string
  name: 'underpaid' | 'overpaid' | 'late' | 'duplicate' | 'halves' | 'reorganised' | 'blocked'
  /** Its result, in words. */
  gives: string
}

export const scenarios: readonly Scenario[] = [
  { centavos: '01', name: 'underpaid', gives: 'half of it is paid: `order.underpaid`, and the rest stays due' },
  { centavos: '02', name: 'overpaid', gives: 'one USDC too much is paid: `order.paid`, then `order.overpaid`' },
  {
    centavos: '03',
    name: 'late',
    gives: 'it is paid after it has expired: `order.expired`, then `order.paid_late`; wants `expires_in` up to 60',
  },
  { centavos: '04', name: 'duplicate', gives: 'it is paid twice: `order.paid`, then `order.duplicate`' },
  { centavos: '05', name: 'halves', gives: 'it is paid in two halves: `order.underpaid`, then `order.paid`' },
  {
    centavos: '06',
    name: 'reorganised',
    gives: 'it is paid, and then the network takes the block back: `order.paid`, then `pending` again with the exception `reorged`',
  },
  {
    centavos: '07',
    name: 'blocked',
    gives:
      'it is paid by transfer, and the issuer of USDC blocks the address before the money moves on: `order.paid` without `order.settled`',
  },
]

export const scenarioOf = (brlAmount: string): Scenario | undefined => scenarios.find(({ centavos }) => brlAmount.endsWith(`.${centavos}`))

const ONE_USDC = 1_000_000n

/** Amounts sent, one transaction after the other, for an order that asks for so many units. */
export function paymentsOf(scenario: Scenario | undefined, due: bigint): bigint[] {
  const half = due / 2n
  switch (scenario?.name) {
    case 'underpaid':
      return [half]
    case 'overpaid':
      return [due + ONE_USDC]
    case 'duplicate':
      return [due, due]
    case 'halves':
      return [half, due - half]
    default:
      return [due]
  }
}
