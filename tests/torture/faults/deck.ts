import type { Random } from '@ponte/service-kit/testing'

export interface Deck<T> {
  draw(): T
  /** Of no use now: the card is drawn among the first of the next round. */
  putBack(card: T): void
}

/** Every card once in a random order, and again. */
export function createDeck<T>(cards: readonly T[], random: Random): Deck<T> {
  let round: T[] = []
  const back = new Set<T>()
  return {
    draw() {
      if (round.length === 0) {
        round = [...random.shuffle(cards.filter(card => !back.has(card))), ...random.shuffle([...back])]
        back.clear()
      }
      const card = round.pop()
      if (card === undefined) throw new RangeError('The deck is empty.')
      return card
    },
    putBack: card => void back.add(card),
  }
}
