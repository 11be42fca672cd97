import { startHttpServer } from '@ponte/local-servers'
import { askPublished, dayOf, rateDifferences } from './rates'

// By `printf '1795694400000 5431000' | sha256sum`, and so for the day.
const market = {
  at: '2026-11-26T12:00:00.000Z',
  rate_micros: '5431000',
  seal: 'dbb874b9310074a56f9865b1aa77ea25b22fcb6e9706b6a0da40f209d5343212',
}
const ptax = {
  day: '2026-11-26T00:00:00.000Z',
  rate_micros: '5378100',
  seal: '95f2188d1ccd33a5dd454d976d30bd95494bba57a34e690f258ebb27eb2ae123',
}
const none = { published: undefined }

it('names a rate that is not what it was when it was written', () => {
  expect(rateDifferences({ marketRates: [market], ptaxRates: [ptax], ...none })).toEqual([])
  const lies = rateDifferences({
    marketRates: [
      { ...market, rate_micros: '5431001' },
      { ...market, at: '2026-11-26T12:01:00.000Z' },
      { ...market, seal: null },
    ],
    ptaxRates: [{ ...ptax, rate_micros: '5378101' }],
    ...none,
  })
  expect(lies).toHaveLength(4)
})

it('names a PTAX that is not what is published, and reads its day wherever the driver runs', () => {
  const published = new Map([['2026-11-26', 5_378_100n]])
  expect(rateDifferences({ marketRates: [], ptaxRates: [ptax], published })).toEqual([])
  for (const other of [new Map([['2026-11-26', 5_378_000n]]), new Map<string, bigint>()])
    expect(rateDifferences({ marketRates: [], ptaxRates: [ptax], published: other })).toHaveLength(1)
  expect(rateDifferences({ marketRates: [], ptaxRates: [], published })).toHaveLength(1)
  expect(['2026-11-26T03:00:00Z', '2026-11-25T15:00:00Z'].map(day => dayOf({ day }))).toEqual(['2026-11-26', '2026-11-26'])
})

it('asks the source for the days that are kept', async () => {
  const asked: string[] = []
  const source = await startHttpServer((request, response) => {
    asked.push(decodeURIComponent(String(request.url)))
    response.end(JSON.stringify({ value: [{ cotacaoVenda: 5.3781, dataHoraCotacao: '2026-11-26 13:06:28.523' }] }))
  })
  const published = await askPublished(`${source.url}/odata/`, [ptax, { ...ptax, day: '2026-11-24T00:00:00.000Z' }])
  await source.stop()
  expect(published).toEqual(new Map([['2026-11-26', 5_378_100n]]))
  expect(asked).toEqual([expect.stringContaining("@dataInicial='11-24-2026'&@dataFinalCotacao='11-26-2026'")])
})
