import { fields, table } from './output'

test('a text of a payer cannot write to the terminal: control and direction characters are replaced', () => {
  expect(fields({ external_ref: 'a\u001b]52;c;eA==\u0007b\u009b2J\u202ec' })).toBe('external_ref  a\ufffd]52;c;eA==\ufffdb\ufffd2J\ufffdc')
  expect(fields({ metadata: { note: 'a\u001bb\u009bc' } })).not.toContain('\u009b')
  expect(
    table([
      ['id', 'ref'],
      ['1', 'two\nlines'],
    ]),
  ).toBe('id  ref\n1   two\ufffdlines')
})

test('letters of any language stay', () => {
  expect(table([['ação 漢字 😀']])).toBe('ação 漢字 😀')
})
