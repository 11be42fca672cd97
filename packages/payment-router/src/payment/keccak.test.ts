import { hexlify, keccak256, randomBytes } from 'ethers'
import { fastKeccak, keccakBytes } from './keccak'

test('a hash by WebAssembly is the one that ethers makes in JavaScript, for every length around its block of 136 bytes', async () => {
  await fastKeccak
  for (const length of [0, 1, 20, 32, 64, 85, 135, 136, 137, 271, 272, 273, 10_000]) {
    const data = randomBytes(length)
    const byJavaScript = hexlify(keccak256._(data))
    expect([keccak256(data), hexlify(keccakBytes(data))]).toEqual([byJavaScript, byJavaScript])
  }
})
