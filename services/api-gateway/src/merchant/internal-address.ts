/**
 * Whether a URL names an internal destination by itself, so that the merchant is warned at once. It looks at the text only: what a name
 * resolves to is judged by the webhook dispatcher at each attempt, and that judgement is the one that counts (specification, delivery rule 6).
 */
export function namesInternalAddress(url: URL): boolean {
  const host = url.hostname.replace(/\.$/, '').toLowerCase()
  if (host === 'localhost' || /\.(localhost|local|internal)$/.test(host)) return true
  if (host.startsWith('[')) return isInternalIpv6(ipv6Groups(host.slice(1, -1)))
  // The URL parser has already turned 127.1, 0x7f000001 and the like into four decimal numbers.
  const octets = host.split('.').map(Number)
  return octets.length === 4 && octets.every(octet => Number.isInteger(octet)) && isInternalIpv4(octets)
}

const INTERNAL_IPV4: readonly (readonly [network: readonly number[], bits: number])[] = [
  [[0, 0, 0, 0], 8],
  [[10, 0, 0, 0], 8],
  [[100, 64, 0, 0], 10],
  [[127, 0, 0, 0], 8],
  [[169, 254, 0, 0], 16],
  [[172, 16, 0, 0], 12],
  [[192, 0, 0, 0], 24],
  [[192, 88, 99, 0], 24],
  [[192, 168, 0, 0], 16],
  [[198, 18, 0, 0], 15],
  [[224, 0, 0, 0], 4],
  [[240, 0, 0, 0], 4],
  [[168, 63, 129, 16], 32],
]

const toNumber = (octets: readonly number[]) => octets.reduce((sum, octet) => sum * 256 + octet, 0)

function isInternalIpv4(octets: readonly number[]): boolean {
  const address = toNumber(octets)
  return INTERNAL_IPV4.some(([network, bits]) => {
    const size = 2 ** (32 - bits)
    return Math.floor(address / size) === Math.floor(toNumber(network) / size)
  })
}

/** The URL parser writes IPv6 compressed, in lower-case hex, without zone and without dotted tail. */
function ipv6Groups(text: string): number[] {
  const [head = '', tail] = text.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':').map(group => Number.parseInt(group, 16)))
  if (tail === undefined) return groups(head)
  const [left, right] = [groups(head), groups(tail)]
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}

function isInternalIpv6(groups: readonly number[]): boolean {
  const [first = 0, second = 0] = groups
  const mapped = groups.slice(0, 5).every(group => group === 0) && groups[5] === 0xffff
  if (mapped) return isInternalIpv4(groups.slice(6).flatMap(group => [group >> 8, group & 255]))
  const global = first >= 0x2000 && first <= 0x3fff
  return !global || first === 0x2002 || (first === 0x2001 && second < 0x200)
}
