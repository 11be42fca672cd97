import { isHeld } from './dunning'
import { nextCharged } from './end'
import { type Fact, isLive, type Subscription } from './subscription'

/** The notice that a charge will be made, given once for each period. */

export interface Upcoming {
  periodIndex: number
  chargeAt: Date
  /** When the merchant is notified. */
  noticeAt: Date
}

/** The notice that is still to be given; null when no charge is to come, or it was given. */
export function upcoming(subscription: Subscription): Upcoming | null {
  const { dunning, pausedAt, upcomingIndex } = subscription
  if (dunning.noticeS === 0 || !isLive(subscription) || pausedAt !== null || isHeld(subscription)) return null
  const next = nextCharged(subscription)
  if (next === null || next.periodIndex <= upcomingIndex) return null
  return { periodIndex: next.periodIndex, chargeAt: next.at, noticeAt: new Date(next.at.getTime() - dunning.noticeS * 1000) }
}

/** Gives the notice whose time has come. */
export function announce(subscription: Subscription, at: Date): { subscription: Subscription; facts: readonly Fact[] } {
  const next = upcoming(subscription)
  if (next === null || next.noticeAt > at) return { subscription, facts: [] }
  const { periodIndex, chargeAt } = next
  return { subscription: { ...subscription, upcomingIndex: periodIndex }, facts: [{ kind: 'upcoming', periodIndex, chargeAt }] }
}
