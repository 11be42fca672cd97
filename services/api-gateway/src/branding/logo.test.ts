import { decode, encode } from 'fast-png'
import { encodeLogo } from './logo'

const pixels = (width: number, height: number) => new Uint8Array(width * height * 4).map((_, n) => n % 251)
const picture = (width = 8, height = 8) => Buffer.from(encode({ width, height, channels: 4, depth: 8, data: pixels(width, height) }))
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

/** A PNG whose header claims this size. */
function claiming(width: number, height: number): Buffer {
  const bytes = picture()
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

test('the pixels are kept, and nothing that came beside them', () => {
  const script = Buffer.from('<script>alert(1)</script>')
  const { png, hash } = encodeLogo(base64(Buffer.concat([picture(), script])))
  expect(decode(png)).toMatchObject({ width: 8, height: 8, channels: 4, data: pixels(8, 8) })
  expect(png.includes(script)).toBe(false)
  expect(hash).toMatch(/^[0-9a-f]{32}$/)
  expect(encodeLogo(base64(picture())).hash).toBe(hash)
})

test.each([
  ['text', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['nothing', Buffer.alloc(0)],
  ['a PNG that ends early', picture().subarray(0, 60)],
  ['one whose size is another', claiming(8, 400)],
  ['a huge one', claiming(100_000, 100_000)],
  ['one without pixels', claiming(0, 8)],
])('%s is refused', (_, bytes) => {
  expect(() => encodeLogo(base64(bytes))).toThrow(expect.objectContaining({ code: 'invalid_request' }))
})
