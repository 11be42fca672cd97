import axios from 'axios'
import { z } from 'zod'
import { AHEAD_MAX_S, demandPast, invertedMicros, type RateSource, SOURCE_DEADLINE_MS } from './source'

/** One JSON endpoint: where its rate is in the answer, and how to read it. Paths are keys and indexes joined by dots. */
export const httpRateSettings = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be lower-case letters, digits and dashes'),
  url: z.url({ protocol: /^https?$/ }),
  /** Where the rate is, for example `USDTBRL.bid` or `data.0.price`. */
  path: z.string().min(1),
  /** Where the time of the rate is; without it the rate is as old as the answer. */
  as_of_path: z.string().min(1).optional(),
  as_of_unit: z.enum(['iso', 's', 'ms']).default('iso'),
  /** True when the endpoint gives dollars per real. */
  inverted: z.boolean().default(false),
  /** A rate of this source that is older prices nothing; RATE_MAX_AGE_S when it is not given. */
  max_age_s: z.int().min(1).optional(),
})
export type HttpRateSettings = z.infer<typeof httpRateSettings>

const ANSWER_BYTES_MAX = 262_144

export function httpRate(settings: HttpRateSettings, { now, maxAgeS }: { now: () => Date; maxAgeS: number }): RateSource {
  return {
    name: settings.name,
    async observe() {
      const answer = await axios.get<string>(settings.url, {
        signal: AbortSignal.timeout(SOURCE_DEADLINE_MS),
        responseType: 'text',
        transformResponse: text => text,
        maxContentLength: ANSWER_BYTES_MAX,
        maxRedirects: 0,
        headers: { Accept: 'application/json' },
      })
      const body = parseExactly(answer.data)
      const text = at(body, settings.path)
      if (text === undefined) throw new Error(`${settings.name} has nothing at ${settings.path}.`)
      const asOf = settings.as_of_path === undefined ? now() : instant(at(body, settings.as_of_path), settings)
      return {
        source: settings.name,
        rateMicros: rateMicros(text, settings.inverted),
        asOf: demandPast(settings.name, asOf, now(), AHEAD_MAX_S),
        maxAgeS: settings.max_age_s ?? maxAgeS,
      }
    },
  }
}

const TOKEN = /"(?:\\.|[^"\\])*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** JSON whose numbers stay the text they were: a rate never passes through a float. */
export const parseExactly = (json: string): unknown =>
  JSON.parse(json.replace(TOKEN, token => (token.startsWith('"') ? token : `"${token}"`)))

/** A decimal of any length to micro-BRL per USDC, rounded down. Throws on anything that is not a plain decimal above zero. */
export function rateMicros(text: string, inverted: boolean): bigint {
  const match = /^(\d{1,18})(?:\.(\d{1,30}))?$/.exec(text)
  const [whole, fraction] = [match?.[1], match?.[2] ?? '']
  const digits = whole === undefined ? 0n : BigInt(whole + fraction)
  if (digits === 0n) throw new Error(`Not a rate: ${JSON.stringify(text.slice(0, 40))}`)
  const unit = 10n ** BigInt(fraction.length)
  return inverted ? invertedMicros(digits, unit) : (digits * 1_000_000n) / unit
}

function at(body: unknown, path: string): string | undefined {
  let value = body
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = Reflect.get(value, key)
  }
  return typeof value === 'string' ? value.trim() : undefined
}

function instant(text: string | undefined, { name, as_of_path, as_of_unit }: HttpRateSettings): Date {
  const time = as_of_unit === 'iso' ? new Date(text ?? '') : new Date(Number(text) * (as_of_unit === 's' ? 1000 : 1))
  if (text === undefined || Number.isNaN(time.getTime())) throw new Error(`${name} has no time at ${as_of_path}.`)
  return time
}
