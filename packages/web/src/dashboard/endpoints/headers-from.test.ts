import { headersFrom } from './headers-from'

test.each([
  ['', {}],
  ['X-Key: value', { 'X-Key': 'value' }],
  ['Authorization:  Bearer a:b \n\nX-B:2\n', { Authorization: 'Bearer a:b', 'X-B': '2' }],
])('%j', (text, headers) => {
  expect(headersFrom(text)).toEqual(headers)
})

test.each(['X-Key', ': x', 'X-A: 1\nX-A: 2', 'X A: 1'])('%j is no header', text => {
  expect(headersFrom(text)).toBeNull()
})
