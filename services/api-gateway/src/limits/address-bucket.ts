/** The bucket of an address: one for each IPv4 address, one for each /64 of IPv6, which is what a single host is given. */
export function addressBucket(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail] = plain.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = tail === undefined ? left : [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
  return `${groups.slice(0, 4).join(':')}::/64`
}

/** The network of an address, as far as a log needs it: a /24, or a /48 of IPv6. */
export function networkOf(address: string): string {
  const bucket = addressBucket(address)
  const groups = bucket.replace('::/64', '').split(':')
  return groups.length > 1 ? `${groups.slice(0, 3).join(':')}::/48` : `${bucket.split('.').slice(0, 3).join('.')}.0/24`
}
