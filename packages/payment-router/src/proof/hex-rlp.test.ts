import { RLP } from '@ethereumjs/rlp'
import { hexBytes } from './header'
import { encodeHex, type HexItem } from './hex-rlp'

const bytes = (length: number) => `0x${'a7'.repeat(length)}`
const plain = (item: HexItem): Parameters<typeof RLP.encode>[0] => (typeof item === 'string' ? hexBytes(item) : item.map(plain))

it.each<[string, HexItem]>([
  ['nothing', '0x'],
  ['a small byte, which is itself', '0x7f'],
  ['zero as a byte', '0x00'],
  ['a large byte', '0x80'],
  ['no item', []],
  ...[1, 55, 56, 255, 256, 70_000].map((length): [string, HexItem] => [`${length} bytes`, bytes(length)]),
  ...[54, 55, 56, 300].map((length): [string, HexItem] => [`a list of ${length} bytes`, [bytes(length)]]),
  ['lists in lists', [bytes(20), [[bytes(32), bytes(32)], [], '0x05'], bytes(256)]],
])('%s is encoded as the library does', (_name, item) => {
  expect(Buffer.from(encodeHex(item)).toString('hex')).toBe(Buffer.from(RLP.encode(plain(item))).toString('hex'))
  expect([...encodeHex(item, [2])]).toEqual([2, ...RLP.encode(plain(item))])
})
