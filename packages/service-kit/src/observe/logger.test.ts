import { redact } from './logger'

const KEY = `sk_live_${'ab'.repeat(32)}`
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl'

describe('what a log may hold (invariant 8: no secret, key or token in the clear)', () => {
  it('hides values by their key, at any depth and in any spelling', () => {
    const secrets = {
      headers: { Authorization: 'Bearer abc', 'X-Service-Signature': 'ff', cookie: 'a=b' },
      merchant: {
        api_key: KEY,
        webhook_secret: 's1',
        sealed_webhook_secret: 's2',
        pendingWebhookSecret: 's3',
        access_token: 't',
        apikey: 'p',
      },
      list: [{ password: 'p', privateKey: '0x1' }],
    }
    const text = JSON.stringify(redact(secrets))
    for (const leak of ['abc', '"ff"', 'a=b', KEY, 's1', 's2', 's3', '"t"', '"p"', '0x1']) expect(text).not.toContain(leak)
  })

  it('hides secrets inside free text', () => {
    expect(redact(`key ${KEY} sent`)).toBe('key sk_live_[redacted] sent')
    expect(redact(`Authorization: Bearer ${JWT}, next`)).not.toContain('eyJ')
    expect(redact(`token ${JWT}`)).toBe('token [redacted jwt]')
    expect(redact('connect postgres://user:pa%3Ass@db:5432/x failed')).toBe('connect postgres://[redacted]@db:5432/x failed')
  })

  it('keeps what an operator needs', () => {
    const fields = {
      token_address: '0xabc',
      idempotency_key: 'k',
      order_id: 'o',
      amount: 10n,
      at: new Date(0),
      none: null,
      gone: undefined,
    }
    expect(redact(fields)).toEqual({ ...fields, amount: '10', at: '1970-01-01T00:00:00.000Z' })
    expect(redact(new Date(Number.NaN))).toBe('invalid date')
    expect(redact(Buffer.from('secret'))).toBe('[6 bytes]')
  })

  it('shows errors with their code and cause, and hides secrets in them', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED amqp://guest:guest@127.0.0.1'), { code: 'ECONNREFUSED' })
    const shown = redact(new Error(`failed for ${KEY}`, { cause })) as { message: string; cause: { message: string; code: string } }
    expect(shown.message).toBe('failed for sk_live_[redacted]')
    expect(shown.cause).toMatchObject({ message: 'connect ECONNREFUSED amqp://[redacted]@127.0.0.1', code: 'ECONNREFUSED' })
    expect(JSON.stringify(redact(new AggregateError([cause], 'several')))).toContain('ECONNREFUSED')
  })

  it('ends on cycles, on causes that go round, and on large lists', () => {
    const round: Record<string, unknown> = {}
    round.self = round
    const error = new Error('round')
    error.cause = error
    expect(JSON.stringify(redact(round))).toContain('[too deep]')
    expect(JSON.stringify(redact(error))).toContain('round')
    expect((redact(Array.from({ length: 10_000 }, (_, i) => i)) as number[]).length).toBe(200)
  })
})
