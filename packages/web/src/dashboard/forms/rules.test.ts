import { email, returnUrl, webUrl } from './rules'

test.each([
  [webUrl, 'https://shop.example/hooks', true],
  [webUrl, 'http://127.0.0.1:3000', true],
  [webUrl, '', true],
  [webUrl, 'ftp://shop.example', false],
  [webUrl, 'https://user:secret@shop.example', false],
  [webUrl, 'no url', false],
  [returnUrl, 'https://shop.example/thanks', true],
  [returnUrl, 'http://[::1]:3000/thanks', true],
  [returnUrl, 'http://shop.example/thanks', false],
  [email, 'ana@example.com', true],
])('%p: %s is %s, also in a browser that knows URLs by their constructor alone', (rule, text, holds) => {
  const { parse, canParse } = URL
  try {
    Object.assign(URL, { parse: undefined, canParse: undefined })
    expect(rule.holds(text)).toBe(holds)
  } finally {
    Object.assign(URL, { parse, canParse })
  }
})
