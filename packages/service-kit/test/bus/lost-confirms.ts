const METHOD = 1
const BASIC_ACK = (60 << 16) | 80

/** Passes on what a broker sends on one connection, frame by frame, without its confirms while they are lost. */
export function losingConfirms(isLosing: () => boolean): (chunk: Buffer) => Buffer {
  let rest: Buffer = Buffer.alloc(0)
  return chunk => {
    rest = Buffer.concat([rest, chunk])
    const passed: Buffer[] = []
    while (rest.length >= 7) {
      const size = 8 + rest.readUInt32BE(3)
      if (rest.length < size) break
      const frame = rest.subarray(0, size)
      rest = rest.subarray(size)
      const isConfirm = frame[0] === METHOD && frame.readUInt32BE(7) === BASIC_ACK
      if (!isConfirm || !isLosing()) passed.push(frame)
    }
    return Buffer.concat(passed)
  }
}
