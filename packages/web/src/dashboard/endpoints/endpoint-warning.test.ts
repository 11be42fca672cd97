import { endpointsEn } from '../texts/endpoints-en'
import { endpointsPt } from '../texts/endpoints-pt'
import { endpointWarnings } from './endpoint-warning'

const NOW_MS = Date.parse('2026-11-22T12:00:00.000Z')
const A_DAY_AGO = '2026-11-21T12:00:00.000Z'
const LONGER_AGO = '2026-11-21T11:59:59.999Z'

const texts = (failing_since: string | null, dead: number, wording = endpointsEn) =>
  endpointWarnings({ id: 'e1', failing_since, dead }, 'ERP', { wording, moment: at => at, nowMs: NOW_MS }).map(({ text }) => text)

it('is silent about an endpoint that works, or has been failing for no more than a day', () => {
  expect([texts(null, 0), texts(A_DAY_AGO, 0)]).toEqual([[], []])
})

it('warns of more than a day of failures, and since when', () => {
  expect(texts(LONGER_AGO, 0)).toEqual([`ERP has been failing for more than a day, since ${LONGER_AGO}.`])
})

it.each([
  [1, 'ERP: 1 event was not delivered in 7 days. Nothing is lost: send the period again in Webhooks.'],
  [2, 'ERP: 2 events were not delivered in 7 days. Nothing is lost: send the period again in Webhooks.'],
])('warns of %i dead deliveries, and how to send them again', (dead, text) => {
  expect(texts(null, dead)).toEqual([text])
})

it('warns of both, in Portuguese too', () => {
  expect(texts(LONGER_AGO, 2, endpointsPt)).toEqual([
    `ERP falha há mais de um dia, desde ${LONGER_AGO}.`,
    'ERP: 2 eventos não foram entregues em 7 dias. Nada se perdeu: reenvie o período em Webhooks.',
  ])
})
