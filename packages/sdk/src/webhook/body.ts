import { PonteError } from '../failure.js'
import { utf8 } from './hmac.js'

/** A request's body before anything has parsed it. A `Buffer` is one. */
export type RawBody = string | Uint8Array | ArrayBuffer

/** The bytes of a raw body. Throws `raw_body_required` when it was parsed already. */
export function rawBytes(body: RawBody): Uint8Array {
  if (typeof body === 'string') return utf8(body)
  if (body instanceof Uint8Array) return new Uint8Array(body)
  // A buffer of another realm is no instance of ours.
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body.slice(0))
  throw new PonteError({
    code: 'raw_body_required',
    detail:
      'The signature covers the bytes of the request, and this body was parsed already: parsing and serialising again gives other bytes. Give the raw ' +
      "body. Express: app.post('/webhooks', express.raw({ type: '*/*' }), …) before express.json(). Next.js: await request.text() in a route handler, or " +
      'bodyParser: false in pages/api. Fetch: await request.text().',
  })
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The text of verified bytes. */
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)
