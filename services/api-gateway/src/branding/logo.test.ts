import { crc32, deflateSync } from 'node:zlib'
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

function chunk(type: string, data: Buffer): Buffer {
  const [length, sum, named] = [Buffer.alloc(4), Buffer.alloc(4), Buffer.concat([Buffer.from(type), data])]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

const small = picture()
const [head, rest] = [small.subarray(0, 33), small.subarray(33)]
/** Unpacks to 40 MB. */
const bomb = deflateSync(Buffer.alloc(40_000_000))
const end = chunk('IEND', Buffer.alloc(0))

function header(width: number, height: number, colourType: number): Buffer {
  const data = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, colourType, 0, 0, 0])
  data.writeUInt32BE(width, 0)
  data.writeUInt32BE(height, 4)
  return chunk('IHDR', data)
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
  ['one of more pixels than it claims', Buffer.concat([head, chunk('IDAT', bomb), end])],
  ['one that claims a second size', Buffer.concat([head, header(40_000, 1, 6), chunk('IDAT', deflateSync(Buffer.alloc(1))), end])],
])('%s is refused', (_, bytes) => {
  expect(() => encodeLogo(base64(bytes))).toThrow(expect.objectContaining({ code: 'invalid_request' }))
})

test('transparency that comes again and again makes no colour longer', () => {
  const signature = small.subarray(0, 8)
  const pixel = chunk('IDAT', deflateSync(Buffer.alloc(512 * 513)))
  const transparencies = Array.from({ length: 300 }, () => chunk('tRNS', Buffer.alloc(1)))
  const bytes = Buffer.concat([signature, header(512, 512, 3), chunk('PLTE', Buffer.alloc(3)), ...transparencies, pixel, end])
  const before = process.memoryUsage().arrayBuffers
  expect(() => encodeLogo(base64(bytes))).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000)
})

test('what its other chunks hold is not unpacked', () => {
  const text = chunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), bomb]))
  const profile = chunk('iCCP', Buffer.concat([Buffer.from('icc\0\0'), bomb]))
  const before = process.memoryUsage().arrayBuffers
  expect(encodeLogo(base64(Buffer.concat([head, text, profile, rest]))).hash).toBe(encodeLogo(base64(small)).hash)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000)
})
