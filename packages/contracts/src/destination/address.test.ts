import { isAddressAllowed, parseAddress, parseRange } from './address'

/** For each range: the address before it, its first and last, and the one after it; an edge shared with another denied range is left out. */
const ipv4: [name: string, before: string | null, first: string, last: string, after: string | null][] = [
  ['this network', null, '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['RFC 1918, 10/8', '9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
  ['carrier-grade NAT', '100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
  ['loopback', '126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
  ['link-local', '169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
  ['RFC 1918, 172.16/12', '172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
  ['protocol assignments', '191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['6to4 relays', '192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
  ['RFC 1918, 192.168/16', '192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
  ['benchmarking', '198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
  ['multicast', '223.255.255.255', '224.0.0.0', '239.255.255.255', null],
  ['reserved and broadcast', null, '240.0.0.0', '255.255.255.255', null],
  ['the host of an Azure machine', '168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
]
const ipv6: typeof ipv4 = [
  ['unspecified, loopback, IPv4-compatible, NAT64, discard', null, '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2000::'],
  [
    'Teredo, ORCHID, benchmarking',
    '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001::',
    '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:200::',
  ],
  ['6to4', '2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ['all above 2000::/3', '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
]

describe('delivery rule 6: private addresses', () => {
  describe.each([...ipv4, ...ipv6])('%s', (_name, before, first, last, after) => {
    it('is refused from its first address to its last, and not one further', () => {
      const verdicts = [before, first, last, after].map(address => address === null || isAddressAllowed(address))
      expect(verdicts).toEqual([true, false, false, true])
    })
  })

  it.each(ipv4)('%s is refused as an IPv4-mapped IPv6 address too, in both spellings', (_name, before, first, last) => {
    for (const address of [first, last]) {
      const [a = 0, b = 0, c = 0, d = 0] = parseAddress(address) ?? []
      const hex = [(a << 8) | b, (c << 8) | d].map(group => group.toString(16))
      expect(isAddressAllowed(`::ffff:${address}`)).toBe(false)
      expect(isAddressAllowed(`::ffff:${hex.join(':')}`)).toBe(false)
    }
    if (before) expect(isAddressAllowed(`::ffff:${before}`)).toBe(true)
  })

  it.each([
    ['loopback', '::1'],
    ['loopback in full', '0000:0000:0000:0000:0000:0000:0000:0001'],
    ['IPv4-compatible loopback', '::127.0.0.1'],
    ['IPv4-compatible loopback in hex', '::7f00:1'],
    ['translated (SIIT)', '::ffff:0:127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['NAT64, dotted', '64:ff9b::10.0.0.1'],
    ['local NAT64', '64:ff9b:1::7f00:1'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['unique-local', 'fc00::1'],
    ['unique-local', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ["Amazon's metadata", 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['discard', '100::1'],
    ['segment routing', '5f00::1'],
    ['metadata of the clouds', '169.254.169.254'],
    ['1::1, which looks like nothing', '1::1'],
  ])('refuses %s: %s', (_name, address) => {
    expect(isAddressAllowed(address)).toBe(false)
  })

  it.each([
    '8.8.8.8',
    '203.0.113.7',
    '198.51.100.1',
    '192.0.2.1',
    '2606:4700::1111',
    '2001:db8::1',
    '2A00:1450:4007::200E',
    '::ffff:8.8.8.8',
  ])('lets %s pass: public, or documentation that goes nowhere', address => {
    expect(isAddressAllowed(address)).toBe(true)
  })

  it.each([
    '',
    'localhost',
    '127.1',
    '0177.0.0.1',
    '08.8.8.8',
    '8.8.8.8.',
    '8.8.8',
    '256.8.8.8',
    '8.8.8.8/8',
    '[::1]',
    '2606:4700::1%eth0',
    ':::',
  ])('refuses what is not an address in its usual spelling: %j', text => {
    expect(isAddressAllowed(text)).toBe(false)
  })

  it.each([
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7',
    '1::2::3',
    '2606:4700:1:2:3:4:5::6',
    '1.2.3.4::',
    '2606::1.2.3.4:5',
    '2606:12345::',
    '2606:x::',
  ])('refuses malformed IPv6: %s', text => {
    expect(parseAddress(text)).toBeUndefined()
  })
})

describe('denied ranges', () => {
  const denied = ['203.0.113.0/24', '2606:4700::/32', '::ffff:198.51.100.0/120'].flatMap(text => parseRange(text) ?? [])

  it('close what is public, whatever is re-opened', () => {
    const allowed = denied
    const addresses = ['203.0.113.7', '203.0.112.255', '203.0.114.0', '2606:4700::1111', '2606:4701::1', '198.51.100.255', '198.51.101.0']
    expect(addresses.map(text => isAddressAllowed(text, { denied }))).toEqual([false, true, true, false, true, false, true])
    expect(isAddressAllowed('203.0.113.7', { denied, allowed })).toBe(false)
  })

  it('are compared after unwrapping', () => {
    expect(isAddressAllowed('::ffff:203.0.113.7', { denied })).toBe(false)
  })
})

describe('re-opened ranges', () => {
  const allowed = [parseRange('127.0.0.1/32'), parseRange('fd00::/8')].flatMap(open => open ?? [])

  it('open exactly themselves', () => {
    const verdicts = ['127.0.0.1', '127.0.0.0', '127.0.0.2', '10.0.0.1', '::1', 'fd12::1', 'fc12::1'].map(text =>
      isAddressAllowed(text, { allowed }),
    )
    expect(verdicts).toEqual([true, false, false, false, false, true, false])
  })

  it('are compared after unwrapping', () => {
    expect(isAddressAllowed('::ffff:127.0.0.1', { allowed })).toBe(true)
    expect(isAddressAllowed('::127.0.0.1', { allowed })).toBe(false)
  })

  it.each(['127.0.0.1', '127.0.0.1/33', '127.0.0.1/8', '::/129', 'localhost/32', '10.0.0.0/-1', '/8', ''])(
    'cannot be written as %j',
    text => {
      expect(parseRange(text)).toBeUndefined()
    },
  )
})
