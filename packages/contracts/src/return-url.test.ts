import { isReturnUrl } from './return-url'

test.each([
  'https://shop.example',
  'https://shop.example:8443/thanks?order=1#top',
  'https://xn--po-yja.example/',
  'http://localhost:3000/done',
  'http://127.0.0.1/done',
  'http://[::1]:3000/',
])('%s is taken', url => expect(isReturnUrl(url)).toBe(true))

test.each([
  'javascript:alert(1)',
  'http://shop.example/',
  'http://localhost.shop.example/',
  'http://127.0.0.1.shop.example/',
  'https://shop.example@evil.example/',
  'https://user:pass@shop.example/',
  'https:/shop.example',
  'https:\\\\shop.example',
  'https://shop.example\\@evil.example/',
  'https://shop.exam\tple/',
  ' https://shop.example/',
  'https://pão.example/',
  '//shop.example/',
  'data:text/html,hi',
  'https://',
  `https://shop.example/${'a'.repeat(2048)}`,
])('%s is refused', url => expect(isReturnUrl(url)).toBe(false))
