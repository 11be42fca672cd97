import { operations, pathWith } from '@ponte/contracts'

/** The day on which the interface last gained something; answers name it in `Ponte-Version`. */
export const INTERFACE_VERSION = '2026-11-30'

export function headers(): Record<string, unknown> {
  const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example })
  const whole = (description: string, example: number) => ({ description, schema: { type: 'integer' }, example })
  return {
    'X-Request-Id': text('Names this request; yours, when you sent a well-formed one', '0f3c2b1a-7d51-4f5b-9f0a-3f0f5a1f7f11'),
    'Ponte-Version': text('The day of the interface that answers', INTERFACE_VERSION),
    'Idempotency-Replayed': {
      description: 'The answer is that of the first request with this key',
      schema: { type: 'string', enum: ['true'] },
    },
    Location: text('Path of what was created', pathWith(operations.getOrder.path, { id: '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90' })),
    'Retry-After': whole('Seconds to wait before trying again', 2),
    'RateLimit-Limit': whole('Requests allowed in a window', 6000),
    'RateLimit-Remaining': whole('Requests left in it', 5999),
    'RateLimit-Reset': whole('Seconds until it ends', 42),
    'RateLimit-Policy': text('Limit and window', '6000;w=60'),
  }
}
