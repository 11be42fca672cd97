import { commonAncestor } from './fork'

const ours = [1, 2, 3, 4].map(number => ({ number, hash: `0xa${number}`, parentHash: `0xa${number - 1}`, time: number }))

describe('the common ancestor', () => {
  it('is the highest block both know', () => {
    const theirs = new Map([
      [1, '0xa1'],
      [2, '0xa2'],
      [3, '0xb3'],
      [4, '0xb4'],
    ])
    expect(commonAncestor(ours, theirs)?.number).toBe(2)
    expect(commonAncestor([...ours].reverse(), theirs)?.number).toBe(2)
  })

  it('is our last block when the node merely has more, and a lower one when it has fewer', () => {
    expect(commonAncestor(ours, new Map(ours.map(block => [block.number, block.hash])))?.number).toBe(4)
    expect(
      commonAncestor(
        ours,
        new Map([
          [1, '0xa1'],
          [2, '0xa2'],
          [3, undefined],
        ]),
      )?.number,
    ).toBe(2)
  })

  it('does not exist on another chain', () => {
    expect(
      commonAncestor(
        ours,
        new Map([
          [1, '0xb1'],
          [2, '0xb2'],
        ]),
      ),
    ).toBeUndefined()
  })
})
