import axios from 'axios'
import { type PtaxRange, type PtaxRate, ptaxAddress, ptaxRates } from './ptax'
import { SOURCE_DEADLINE_MS } from './source'

const ANSWER_BYTES_MAX = 4_194_304

/** Every rate that was published for these days. */
export async function askPtax(base: string, range: PtaxRange): Promise<PtaxRate[]> {
  const { data } = await axios.get<string>(ptaxAddress(base, range.from, range.to), {
    signal: AbortSignal.timeout(SOURCE_DEADLINE_MS),
    responseType: 'text',
    transformResponse: text => text,
    maxContentLength: ANSWER_BYTES_MAX,
    maxRedirects: 0,
    headers: { Accept: 'application/json' },
  })
  return ptaxRates(data, range)
}
