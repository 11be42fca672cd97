import { z } from 'zod'

/**
 * Which addresses a webhook may go to. Everything is decided on bytes, and what is not known to be public is refused
 * (specification, delivery rule 6).
 */

/** Ranges that an operator opens or closes beside the rule. */
export interface AddressPolicy {
  /** Re-opened, for a receiver on this machine or in a private network. */
  allowed?: readonly AddressRange[] | undefined
  /** Closed although they are public, such as the operator's own; these win over all. */
  denied?: readonly AddressRange[] | undefined
}

export interface AddressRange {
  bytes: readonly number[]
  bits: number
}

const IPV4_MAPPED: AddressRange = { bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0], bits: 96 }

/** A range in a setting. */
export const addressRange = z.string().transform((text, context): AddressRange => {
  const parsed = parseRange(text)
  if (parsed) return parsed
  context.addIssue('must be a list of address ranges such as 127.0.0.1/32')
  return z.NEVER
})

const range = (text: string): AddressRange => {
  const parsed = parseRange(text)
  if (!parsed) throw new RangeError(`Not an address range: ${text}`)
  return parsed
}

/** Not public in IPv4: this network, private, shared, loopback, link-local, protocol, 6to4 relay, benchmark, multicast, reserved, Azure's host. */
const DENIED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
].map(range)
/** All public IPv6 lies in here; loopback, unique-local, link-local, NAT64, IPv4-compatible and the rest lie outside. */
const GLOBAL_IPV6 = range('2000::/3')
/** Teredo, ORCHID and benchmarking; and 6to4, which hides an IPv4 address. */
const DENIED_IPV6 = ['2001::/23', '2002::/16'].map(range)

/** True when a webhook may be sent to this address. Text that is not an address is refused. */
export function isAddressAllowed(text: string, { allowed = [], denied = [] }: AddressPolicy = {}): boolean {
  const parsed = parseAddress(text)
  if (!parsed) return false
  const address = contains(IPV4_MAPPED, parsed) ? parsed.slice(12) : parsed
  if (denied.some(closed => contains(closed, address))) return false
  if (allowed.some(open => contains(open, address))) return true
  if (address.length === 4) return !DENIED_IPV4.some(range => contains(range, address))
  return contains(GLOBAL_IPV6, address) && !DENIED_IPV6.some(range => contains(range, address))
}

/** The bytes of an address in its usual spellings: dotted decimal, or colon hex with `::` and a dotted tail. No zone, no brackets. */
export function parseAddress(text: string): number[] | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text)
}

/**
 * `address/bits`; host bits must be zero, so that a slip does not open a wider range than written. A range of IPv4-mapped addresses is one of IPv4,
 * because addresses are compared after unwrapping.
 */
export function parseRange(text: string): AddressRange | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text)
  const bytes = parseAddress(match?.[1] ?? '')
  const bits = Number(match?.[2])
  if (!bytes || bits > bytes.length * 8) return undefined
  const clean = bytes.every((byte, index) => (byte & ~maskOf(index, bits) & 255) === 0)
  if (!clean) return undefined
  return bits >= 96 && bytes.length === 16 && contains(IPV4_MAPPED, bytes) ? { bytes: bytes.slice(12), bits: bits - 96 } : { bytes, bits }
}

function maskOf(index: number, bits: number): number {
  return (255 << (8 - Math.min(8, Math.max(0, bits - index * 8)))) & 255
}

const contains = ({ bytes, bits }: AddressRange, address: readonly number[]) =>
  address.length === bytes.length && bytes.every((byte, index) => byte === ((address[index] ?? 0) & maskOf(index, bits)))

function parseIpv4(text: string): number[] | undefined {
  const parts = text.split('.')
  // A leading zero means octal to some readers: such a spelling is no address.
  if (parts.length !== 4 || !parts.every(part => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return undefined
  return parts.map(Number)
}

function parseIpv6(text: string): number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = [parseGroups(halves[0] ?? '', halves.length === 1), parseGroups(halves[1] ?? '', true)]
  if (!head || !tail) return undefined
  const missing = 16 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined
  return [...head, ...new Array<number>(missing).fill(0), ...tail]
}

/** Colon-separated groups as bytes; the last one may be dotted IPv4 when these groups end the address. */
function parseGroups(text: string, ends: boolean): number[] | undefined {
  if (text === '') return []
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [index, group] of groups.entries()) {
    const dotted = group.includes('.') && ends && index === groups.length - 1 ? parseIpv4(group) : undefined
    if (dotted) bytes.push(...dotted)
    else if (/^[0-9a-fA-F]{1,4}$/.test(group)) bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255)
    else return undefined
  }
  return bytes
}
