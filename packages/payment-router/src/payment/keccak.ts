import { getBytes, keccak256 } from 'ethers'
import { createKeccak } from 'hash-wasm'

const EMPTY = 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

let hash = (data: Uint8Array): Uint8Array => getBytes(keccak256._(data))

/** The 32 bytes of keccak-256, where ethers' way over hex would cost more than the hash. */
export const keccakBytes = (data: Uint8Array): Uint8Array => hash(data)

/**
 * Gives every hash of ethers in this process to WebAssembly, which takes a tenth of the time: two hashes for each payment are the largest part
 * of what catching up costs. Until it is compiled, a few milliseconds after the start, ethers' own JavaScript answers the same.
 */
export const fastKeccak: Promise<void> = createKeccak(256).then(hasher => {
  const byWebAssembly = (data: Uint8Array): Uint8Array => hasher.init().update(data).digest('binary')
  if (Buffer.from(byWebAssembly(new Uint8Array())).toString('hex') !== EMPTY) return
  hash = byWebAssembly
  keccak256.register(byWebAssembly)
})
