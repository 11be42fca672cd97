import { type Block, links } from './block'

const block = (number: number, hash: string, parentHash: string): Block => ({ number, hash, parentHash, time: number })

describe('a run of blocks', () => {
  const run = [block(5, '0x5', '0x4'), block(6, '0x6', '0x5')]

  it('links to its parent by number and hash', () => {
    expect(links({ number: 4, hash: '0x4' }, run)).toBe(true)
    expect(links({ number: 4, hash: '0x4' }, [])).toBe(true)
  })

  it('does not link to another parent, over a gap, or when broken inside', () => {
    expect(links({ number: 4, hash: '0xother' }, run)).toBe(false)
    expect(links({ number: 3, hash: '0x4' }, run)).toBe(false)
    expect(links({ number: 4, hash: '0x4' }, [block(5, '0x5', '0x4'), block(6, '0x6', '0xother')])).toBe(false)
  })

  it('links genesis to nothing', () => {
    expect(links({ number: -1, hash: null }, [block(0, '0x0', '0x00')])).toBe(true)
  })
})
