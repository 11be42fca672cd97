import type { OrderBody, TestScenarioName } from '@ponte/contracts'

type OrderEvent = 'order.underpaid' | 'order.paid' | 'order.overpaid' | 'order.duplicate' | 'order.expired' | 'order.paid_late'
type ExpectedEvent = OrderEvent | 'order.cancelled' | 'order.paid_after_cancel'

export interface Scenario {
  name: TestScenarioName
  /** Centavos of `brl_amount` by which the sample payer treats an order so; null where it has to be asked for by name. */
  centavos: string | null
  gives: string
  expects: { events: ExpectedEvent[]; status: OrderBody['status'] }
}

export const scenarios: readonly Scenario[] = [
  {
    ...{ name: 'underpaid', centavos: '01', gives: 'half of it is paid: `order.underpaid`, and the rest stays due' },
    expects: { events: ['order.underpaid'], status: 'underpaid' },
  },
  {
    ...{ name: 'overpaid', centavos: '02', gives: 'one USDC too much is paid: `order.paid`, then `order.overpaid`' },
    expects: { events: ['order.paid', 'order.overpaid'], status: 'paid' },
  },
  {
    ...{
      name: 'late',
      centavos: '03',
      gives: 'it is paid after it has expired: `order.expired`, then `order.paid_late`; wants `expires_in` up to 60',
    },
    expects: { events: ['order.expired', 'order.paid_late'], status: 'expired' },
  },
  {
    ...{ name: 'duplicate', centavos: '04', gives: 'it is paid twice: `order.paid`, then `order.duplicate`' },
    expects: { events: ['order.paid', 'order.duplicate'], status: 'paid' },
  },
  {
    ...{ name: 'halves', centavos: '05', gives: 'it is paid in two halves: `order.underpaid`, then `order.paid`' },
    expects: { events: ['order.underpaid', 'order.paid'], status: 'paid' },
  },
  {
    ...{ name: 'reorganised', centavos: '06' },
    gives: 'it is paid, and then the network takes the block back: `order.paid`, then `pending` again with the exception `reorged`',
    expects: { events: ['order.paid'], status: 'pending' },
  },
  {
    ...{ name: 'blocked', centavos: '07' },
    gives:
      'it is paid by transfer, and the issuer of USDC blocks the address before the money moves on: `order.paid` without `order.settled`',
    expects: { events: ['order.paid'], status: 'paid' },
  },
  {
    ...{ name: 'after_cancel', centavos: null, gives: 'it is cancelled and then paid: `order.cancelled`, then `order.paid_after_cancel`' },
    expects: { events: ['order.cancelled', 'order.paid_after_cancel'], status: 'cancelled' },
  },
  {
    ...{ name: 'wrong_token', centavos: null, gives: 'another token comes to its address, which pays nothing and can be recovered' },
    expects: { events: [], status: 'pending' },
  },
  {
    ...{
      name: 'slow_node',
      centavos: null,
      gives: 'it is paid while the node of the network answers nothing for some seconds: `order.paid`, later',
    },
    expects: { events: ['order.paid'], status: 'paid' },
  },
  {
    ...{
      name: 'halted',
      centavos: null,
      gives: 'it is paid while the network makes no block for some seconds: `order.paid`, later, and nothing expires meanwhile',
    },
    expects: { events: ['order.paid'], status: 'paid' },
  },
  {
    ...{
      name: 'no_rate',
      centavos: null,
      gives: 'no exchange rate is fresh for some seconds: new orders are refused with 503 `rate_unavailable`, this one stays',
    },
    expects: { events: [], status: 'pending' },
  },
]

export const scenarioNamed = (name: TestScenarioName): Scenario => {
  const found = scenarios.find(scenario => scenario.name === name)
  if (!found) throw new RangeError(`there is no scenario ${name}`)
  return found
}

/** The sample payer treats orders of the same amount in the same way. */
export const scenarioOf = (brlAmount: string): Scenario | undefined =>
  scenarios.find(({ centavos }) => centavos !== null && brlAmount.endsWith(`.${centavos}`))

const ONE_USDC = 1_000_000n

/** Amounts sent, one transaction after the other, for an order that asks for so many units. */
export function paymentsOf(scenario: TestScenarioName | undefined, due: bigint): bigint[] {
  const half = due / 2n
  switch (scenario) {
    case 'underpaid':
      return [half]
    case 'overpaid':
      return [due + ONE_USDC]
    case 'duplicate':
      return [due, due]
    case 'halves':
      return [half, due - half]
    case 'no_rate':
      return []
    default:
      return [due]
  }
}
