import { signTestWebhook } from '@ponte/sdk'

export interface Diagnosis {
  valid: boolean
  reason: string
}

/** Finds why a signature does not fit, by trying what usually goes wrong. */
export async function diagnose(body: string, signature: string, secret: string): Promise<Diagnosis> {
  const signed = async (text: string, key = secret) => (await signTestWebhook(text, key)).headers['X-Service-Signature']
  const given = signature.trim()
  if (given === (await signed(body))) return { valid: true, reason: 'The signature fits.' }
  const wrong = (reason: string): Diagnosis => ({ valid: false, reason })

  if (given.startsWith('v1,'))
    return wrong('This is a webhook-signature of Standard Webhooks. Give X-Service-Signature, or use verifyStandardWebhook.')
  if (!/^[0-9a-f]*$/i.test(given)) return wrong('The signature is not hex. X-Service-Signature is 64 lower-case hex characters.')
  if (given.length !== 64) return wrong(`The signature has ${given.length} characters and must have 64: is it cut, or of another header?`)
  if (given !== given.toLowerCase() && given.toLowerCase() === (await signed(body))) return wrong('The signature fits in lower case.')
  for (const [what, text] of bodiesLike(body)) {
    if (text !== body && given === (await signed(text))) return wrong(what)
  }
  const secrets: [string, string][] = [
    ['The secret has a space or a line end around it.', secret.trim()],
    ['The secret was given without its prefix whsec_.', `whsec_${secret}`],
    ['The secret must be given whole; it was used without its prefix whsec_.', secret.replace(/^whsec_/, '')],
  ]
  for (const [what, key] of secrets) {
    if (key !== secret && given === (await signed(body, key))) return wrong(what)
  }
  return wrong(
    'It fits neither the body nor the body serialised again: the secret is another one, or the body was changed on the way. Was the secret rotated?',
  )
}

/** The bodies that were probably signed, when this one was made of it. */
function bodiesLike(body: string): [string, string][] {
  const again =
    'The body was parsed and serialised again. Verify the raw bytes before any parser (Express: express.raw before express.json).'
  const ends: [string, string][] = [
    ['The body has a line end or space that was not sent.', body.trim()],
    ['The body lacks the byte order mark, or has one that was not sent.', body.replace(/^\uFEFF/, '')],
    ['Line ends were changed.', body.replace(/\r\n/g, '\n')],
  ]
  try {
    const parsed: unknown = JSON.parse(body)
    return [...ends, [again, JSON.stringify(parsed)], [again, JSON.stringify(inOrder(parsed))]]
  } catch {
    return ends
  }
}

/** With the keys as the service writes them: `type` first. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('data' in value)) return value
  const { type, data } = value
  const order = ['id', 'subscription_id', 'external_ref', 'brl_amount', 'usdc_amount', 'tx_hash', 'memo', 'paid_at', 'expected', 'received']
  const known = Object.fromEntries(order.flatMap(name => (name in Object(data) ? [[name, Object(data)[name]]] : [])))
  return { type, data: { ...known, ...Object(data) } }
}
