const RATE = 136
const MASK = 0xffff_ffff_ffff_ffffn
const rotated = (lane: bigint, by: number) => ((lane << BigInt(by)) | (lane >> BigInt(64 - by))) & MASK

/**
 * keccak-256 as Ethereum hashes with, which is not SHA3-256: 32 bytes. Written for its size, of FIPS 202 with the padding of the submission; some thousand
 * hashes a second.
 */
export function keccak256(data: Uint8Array): Uint8Array {
  const padded = new Uint8Array((Math.floor(data.length / RATE) + 1) * RATE)
  padded.set(data)
  const view = new DataView(padded.buffer)
  view.setUint8(data.length, 0x01)
  view.setUint8(padded.length - 1, view.getUint8(padded.length - 1) | 0x80)
  let lanes: bigint[] = Array(25).fill(0n)
  for (let block = 0; block < padded.length; block += RATE)
    lanes = permuted(lanes.map((lane, at) => (8 * at < RATE ? lane ^ view.getBigUint64(block + 8 * at, true) : lane)))
  const hash = new DataView(new ArrayBuffer(32))
  for (const [at, lane] of lanes.slice(0, 4).entries()) hash.setBigUint64(8 * at, lane, true)
  return new Uint8Array(hash.buffer)
}

/** Keccak-f[1600]; lane (x, y) stands at x + 5y. */
function permuted(input: readonly bigint[]): bigint[] {
  let lanes = [...input]
  const at = (x: number, y: number) => lanes[(x % 5) + 5 * (y % 5)] ?? 0n
  let register = 1
  for (let round = 0; round < 24; round++) {
    const column = (x: number) => at(x, 0) ^ at(x, 1) ^ at(x, 2) ^ at(x, 3) ^ at(x, 4)
    const parity = [0, 1, 2, 3, 4].map(x => column(x + 4) ^ rotated(column(x + 1), 1))
    lanes = lanes.map((lane, place) => lane ^ (parity[place % 5] ?? 0n))
    const moved = [...lanes]
    for (let step = 0, x = 1, y = 0; step < 24; step++) {
      const [toX, toY] = [y, (2 * x + 3 * y) % 5]
      moved[toX + 5 * toY] = rotated(at(x, y), (((step + 1) * (step + 2)) / 2) % 64)
      ;[x, y] = [toX, toY]
    }
    lanes = moved
    lanes = lanes.map((lane, place) => {
      const [x, y] = [place % 5, Math.floor(place / 5)]
      return lane ^ (~at(x + 1, y) & MASK & at(x + 2, y))
    })
    for (let bit = 0; bit < 7; bit++) {
      if (register & 1) lanes[0] = at(0, 0) ^ (1n << ((1n << BigInt(bit)) - 1n))
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0)
    }
  }
  return lanes
}
