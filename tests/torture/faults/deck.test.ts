import { createRandom } from '@ponte/service-kit/testing'
import { createDeck } from './deck'

const cards = Array.from({ length: 21 }, (_, index) => index)

it('draws each card once in a round, in another order each time', () => {
  const deck = createDeck(cards, createRandom(1))
  const [first, second] = [cards.map(deck.draw), cards.map(deck.draw)]
  expect([...first].sort((a, b) => a - b)).toEqual(cards)
  expect([...second].sort((a, b) => a - b)).toEqual(cards)
  expect(first).not.toEqual(second)
})

it('draws what was put back at the beginning of the next round, once', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const deck = createDeck(cards, createRandom(seed))
    for (const card of cards.map(deck.draw)) if (card === 3 || card === 17) deck.putBack(card)
    const next = cards.map(deck.draw)
    expect(next.slice(0, 2).sort((a, b) => a - b)).toEqual([3, 17])
    expect([...next].sort((a, b) => a - b)).toEqual(cards)
  }
})
