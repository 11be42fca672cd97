import { escapeHtml, inlineHtml, typeOf } from './page-text'

test('text cannot become markup', () => {
  expect(escapeHtml(`<a href="x" onclick='y'>&`)).toBe('&#60;a href=&#34;x&#34; onclick=&#39;y&#39;&#62;&#38;')
  expect(inlineHtml('see `<b>`')).toBe('see <code>&#60;b&#62;</code>')
})

test.each([
  [{ type: 'string' }, 'string'],
  [{ type: 'string', format: 'date-time' }, 'timestamp'],
  [{ anyOf: [{ type: 'string', format: 'uuid' }, { type: 'null' }] }, 'uuid or null'],
  [{ enum: ['day', 'week'] }, 'day, week'],
  [{ $ref: '#/components/schemas/Order' }, 'Order'],
])('%j is read as %s', (schema, words) => {
  expect(typeOf(schema)).toBe(words)
})
