import { createSubscription, timezone, updateSubscription } from './subscription'

describe('a time zone', () => {
  it.each(['America/Sao_Paulo', 'UTC', 'Etc/GMT+12', 'America/Argentina/Buenos_Aires'])('may be %s', name => {
    expect(timezone.safeParse(name).success).toBe(true)
  })
  it.each(['Mars/Phobos', '+03:00', '-03:00', '', 'America/Sao Paulo', '../etc/passwd', `A${'a'.repeat(64)}`])('may not be %j', name => {
    expect(timezone.safeParse(name).success).toBe(false)
  })
})

describe('the body of a new subscription', () => {
  it('needs an amount and nothing else', () => {
    expect(createSubscription.safeParse({ brl_amount: '49.90' }).success).toBe(true)
    expect(createSubscription.safeParse({}).success).toBe(false)
  })
  it.each([
    [{ brl_amount: '1', interval_count: 2 }, 'interval_count'],
    [{ brl_amount: '1', interval: 'fortnight' }, 'interval'],
    [{ brl_amount: '1', interval: 'day', interval_count: 0 }, 'interval_count'],
    [{ brl_amount: '1', max_periods: 0 }, 'max_periods'],
    [{ brl_amount: '1', max_periods: 1.5 }, 'max_periods'],
    [{ brl_amount: '1', expires_at: 'tomorrow' }, 'expires_at'],
    [{ brl_amount: '1', order_expires_in: 9 }, 'order_expires_in'],
  ])('refuses %j, naming the field', (body, path) => {
    const result = createSubscription.safeParse(body)
    expect(result.error?.issues[0]?.path).toEqual([path])
  })
  it('refuses unknown fields, in a change too', () => {
    expect(createSubscription.safeParse({ brl_amount: '1', start: 'now' }).success).toBe(false)
    expect(updateSubscription.safeParse({ start_at: '2026-01-01T00:00:00.000Z' }).success).toBe(false)
  })
})
