import { requestHeaders } from '../../src/send/request-headers'
import { KINDS, type Kind } from '../endpoints/kinds'

export const headersOf = (kind: Kind, body: Buffer) =>
  requestHeaders(
    {
      format: kind === 'standard' ? 'standard' : 'ponte',
      secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      pendingSecret: null,
      staticHeaders: kind === 'webhook_url' ? {} : { 'X-Tenant': '42' },
    },
    { eventId: '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90', sequence: '7', body },
    Date.now(),
  )

/** Does the same for each kind of endpoint at once; resolves to the first result, whose part that is compared all others must have. */
export async function alike<T>(send: (kind: Kind) => Promise<T>, compared: (result: T) => unknown = result => result): Promise<T> {
  const [first, ...others] = await Promise.all(KINDS.map(send))
  if (first === undefined) throw new Error('There is no kind of endpoint.')
  for (const other of others) expect(compared(other)).toEqual(compared(first))
  return first
}
