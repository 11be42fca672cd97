import type { Spent } from '../store/transactions'

/** The most that gas may cost, in token units. */
export interface Budgets {
  orderUnits: bigint
  merchantDayUnits: bigint
  dayUnits: bigint
  /** The part of the day that all new merchants have together: registering costs nothing, so that their number bounds nothing. */
  newMerchantsDayUnits: bigint
}

/** Which budget a transaction would exceed. */
export type Exceeded = 'order_budget' | 'merchant_budget' | 'day_budget' | 'reverted_budget' | 'new_merchants_budget'

/** Signatures that contract wallets judge may use this part of a day's budgets, so that they leave the rest to those that a key signed. */
const WALLETS_PART = 4n
/** Signatures by keys that reverted may cost this part of a merchant's day; then only keys that have paid that merchant before are served. */
const REVERTED_PART = 4n

export const ofWallets = (budgets: Budgets): Budgets => ({
  ...budgets,
  merchantDayUnits: budgets.merchantDayUnits / WALLETS_PART,
  dayUnits: budgets.dayUnits / WALLETS_PART,
  newMerchantsDayUnits: budgets.newMerchantsDayUnits / WALLETS_PART,
})

/** Which of some orders would exceed a budget, each with `units` more, in their order: what is over counts against no one. */
export function exceeded(
  spent: Spent,
  budgets: Budgets,
  more: { orderIds: readonly string[]; merchants: readonly string[]; units: bigint; isNewPayer: boolean },
): Map<string, Exceeded> {
  const over = new Map<string, Exceeded>()
  const merchants = new Map(spent.merchants)
  let { dayUnits, newMerchantsUnits } = spent
  for (const [index, orderId] of more.orderIds.entries()) {
    const merchant = more.merchants[index] ?? ''
    const ofMerchant = (merchants.get(merchant) ?? 0n) + more.units
    const ofOrder = (spent.orders.get(orderId) ?? 0n) + more.units
    const isNew = !spent.established.has(merchant)
    const ofNew = isNew ? newMerchantsUnits + more.units : 0n
    const reverted = more.isNewPayer ? (spent.reverted.get(merchant) ?? 0n) : 0n
    const why = first(budgets, { ofOrder, ofMerchant, ofNew, ofDay: dayUnits + more.units, reverted })
    if (why) {
      over.set(orderId, why)
      continue
    }
    merchants.set(merchant, ofMerchant)
    dayUnits += more.units
    if (isNew) newMerchantsUnits = ofNew
  }
  return over
}

function first(budgets: Budgets, of: Record<'ofOrder' | 'ofMerchant' | 'ofNew' | 'ofDay' | 'reverted', bigint>): Exceeded | undefined {
  if (of.ofOrder > budgets.orderUnits) return 'order_budget'
  if (of.reverted > 0n && of.reverted >= budgets.merchantDayUnits / REVERTED_PART) return 'reverted_budget'
  if (of.ofMerchant > budgets.merchantDayUnits) return 'merchant_budget'
  if (of.ofDay > budgets.dayUnits) return 'day_budget'
  return of.ofNew > budgets.newMerchantsDayUnits ? 'new_merchants_budget' : undefined
}
