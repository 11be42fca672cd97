import { isAddressAllowed } from './address'
import { namesInternalHost, vetWebhookUrl } from './webhook-url'

const readDestination = (text: string) => vetWebhookUrl(text).destination

describe('a webhook_url', () => {
  it('is read into what a request needs', () => {
    expect(readDestination('https://Example.COM:8443/hooks/ponte?x=1#part')).toEqual({
      protocol: 'https:',
      host: 'example.com',
      port: 8443,
      path: '/hooks/ponte?x=1',
      literal: undefined,
    })
  })

  it.each([
    ['http://example.com', 80],
    ['https://example.com', 443],
    ['http://example.com:443', 443],
  ])('%s means port %i', (url, port) => {
    expect(readDestination(url)?.port).toBe(port)
  })

  it('loses the trailing dot of its host', () => {
    expect(readDestination('https://example.com./')?.host).toBe('example.com')
  })

  it.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'ws://example.com/',
    'data:text/plain,x',
    'javascript:alert(1)',
    'http://user@example.com/',
    'http://user:password@example.com/',
    'http://:password@example.com/',
    'http://example.com:0/',
    'http://example.com:22/',
    'http://example.com:25/',
    'http://example.com:6379000/',
    'http:example.com',
    'http:\\\\example.com\\',
    'http://',
    'http://./',
    '//example.com',
    'example.com',
    '',
    'http://256.256.256.256/',
    'http://1.2.3.4.5/',
    'http://[::1',
    'http://exa mple.com/',
  ])('is refused: %j', url => {
    expect(readDestination(url)).toBeUndefined()
  })

  it.each([0, 22, 25, 1433, 2379, 3306, 5432, 5672, 6379, 9042, 9092, 9200, 11211, 27017])(
    'is refused on port %i, where another protocol listens, and the refusal names it',
    port => {
      expect(vetWebhookUrl(`https://example.com:${port}/`).refusal).toMatch(`must not use port ${port},`)
    },
  )

  it.each([80, 443, 3000, 5000, 8000, 8080, 8443, 8888, 9000, 9443])('may use port %i', port => {
    expect(readDestination(`https://example.com:${port}/`)?.port).toBe(port)
  })

  it('is refused with credentials in its own words', () => {
    expect(vetWebhookUrl('http://user@example.com/').refusal).toBe('must not contain a user name or password')
  })

  it.each([
    ['http://printer.local/', true],
    ['http://metadata.google.internal/', true],
    ['http://10.0.0.1:8080/', true],
    ['http://[::ffff:10.0.0.1]/', true],
    ['http://localhost/', true],
    ['http://shop.localhost/', true],
    ['https://example.com/', false],
    ['http://10.0.0.1.example.com/', false],
    ['http://internal.example.com/', false],
    ['http://8.8.8.8/', false],
  ])('%s names an internal host: %s', (url, internal) => {
    const destination = readDestination(url)
    expect(destination && namesInternalHost(destination)).toBe(internal)
  })

  it.each([
    'http://127.0.0.1/',
    'http://127.0.0.1./',
    'http://127.1/',
    'http://127.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://0/',
    'http://１２７.０.０.１/',
    'http://①②⑦.⓪.⓪.①/',
    'http://127。0。0。1/',
    'http://%31%32%37.0.0.1/',
    'http://127.0.0.1%2e/',
    'http://[::1]/',
    'http://[::]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::127.0.0.1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:0:127.0.0.1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://[2002:7f00:1::]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0xa9fea9fe/',
    'http://10.0.0.1/',
    'http://192.168.0.1:8080/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://foo.localhost/',
    'http://\t127.0.0.1/',
  ])('delivery rule 6: whatever the spelling, %j is an internal address', url => {
    const destination = readDestination(url)
    expect(destination?.literal).toBeDefined()
    expect(isAddressAllowed(destination?.literal ?? '8.8.8.8')).toBe(false)
  })

  it('has a literal only when it is an address', () => {
    expect(readDestination('https://8.8.8.8/')?.literal).toBe('8.8.8.8')
    expect(readDestination('https://[2606:4700::1111]/')?.literal).toBe('2606:4700::1111')
    expect(readDestination('https://127.0.0.1.example.com/')?.literal).toBeUndefined()
  })
})
