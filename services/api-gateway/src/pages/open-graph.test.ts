import { openGraph, reaisOf } from './open-graph'

const preview = { shop: 'Padaria Estrela', reais: ['1500.00'], description: 'Bolo', picture: 'https://pay.example/logos/1.png' }

test('shop and amount are the title, and the rest stands below', () => {
  expect(openGraph(preview)).toBe(
    '<meta property="og:type" content="website"><meta property="og:site_name" content="Ponte">' +
      '<meta property="og:title" content="Padaria Estrela · R$ 1.500,00"><meta property="og:description" content="Bolo">' +
      '<meta property="og:image" content="https://pay.example/logos/1.png">',
  )
})

test('what is not there has no element', () => {
  const text = openGraph({ ...preview, description: null, picture: null })
  expect([text.includes('og:description'), text.includes('og:image')]).toEqual([false, false])
})

test.each([
  [{ brl_amount: '1234567.05', brl_amount_min: null, brl_amount_max: null }, 'R$ 1.234.567,05'],
  [{ brl_amount: null, brl_amount_min: '10.00', brl_amount_max: '5000.00' }, 'R$ 10,00 – R$ 5.000,00'],
  [{ brl_amount: null, brl_amount_min: '10.00', brl_amount_max: '10.00' }, 'R$ 10,00'],
])('%o is shown as %s', (amounts, shown) => {
  expect(openGraph({ ...preview, reais: reaisOf(amounts) })).toContain(`content="Padaria Estrela · ${shown}"`)
})

test.each(['"><script>alert(1)</script>', "'><img src=x onerror=alert(1)>", '</head><body>', '$& $1 $`', 'a\u0000b\n\n  c'])(
  'a shop and a description of %j end no attribute',
  attack => {
    const text = openGraph({ ...preview, shop: attack, description: attack })
    expect(text.replace(/<meta property="og:[a-z_]+" content="[^"<>]*">/g, '')).toBe('')
  },
)

test('a long description is cut between characters', () => {
  const text = openGraph({ ...preview, description: '🥖'.repeat(500) })
  expect(text).toContain(`content="${'🥖'.repeat(199)}…"`)
})
