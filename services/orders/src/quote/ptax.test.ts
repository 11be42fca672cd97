import { ptaxAddress, ptaxRates } from './ptax'

const range = { from: '2026-11-20', to: '2026-11-27', minMicros: 1_000_000n, maxMicros: 50_000_000n }

test('days are asked for as the central bank writes them', () => {
  expect(ptaxAddress('https://olinda.example/odata/', '2026-11-02', '2026-11-27')).toBe(
    'https://olinda.example/odata/CotacaoDolarPeriodo(dataInicial=@dataInicial,dataFinalCotacao=@dataFinalCotacao)?' +
      '@dataInicial=%2711-02-2026%27&@dataFinalCotacao=%2711-27-2026%27&$format=json&$select=cotacaoVenda,dataHoraCotacao',
  )
})

test('the selling rate of each day is read to the last digit', () => {
  const value = [
    { cotacaoVenda: 5.3781, dataHoraCotacao: '2026-11-26 13:04:28.123' },
    { cotacaoVenda: 5.4, dataHoraCotacao: '2026-11-27 13:09:31.5' },
  ]
  expect(ptaxRates(JSON.stringify({ '@odata.context': 'x', value }), range)).toEqual([
    { day: '2026-11-26', rateMicros: 5_378_100n },
    { day: '2026-11-27', rateMicros: 5_400_000n },
  ])
  expect(ptaxRates('{"value":[]}', range)).toEqual([])
})

test.each([
  '{}',
  '[]',
  '{"value":[{}]}',
  '{"value":[{"cotacaoVenda":0,"dataHoraCotacao":"2026-11-27 13:00:00"}]}',
  '{"value":[{"cotacaoVenda":5.1,"dataHoraCotacao":"yesterday"}]}',
  'down',
  '{"value":[{"cotacaoVenda":5.1,"dataHoraCotacao":"2026-11-28 13:00:00"}]}',
  '{"value":[{"cotacaoVenda":55,"dataHoraCotacao":"2026-11-27 13:00:00"}]}',
])('fault: %s is no answer', body => {
  expect(() => ptaxRates(body, range)).toThrow()
})
