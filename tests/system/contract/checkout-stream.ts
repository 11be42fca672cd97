import type { CheckoutBody } from '@ponte/contracts'

/** Opens an order's checkout stream as a payer's page does; `views` grows with what it states. */
export async function watchCheckout(gatewayUrl: string, orderId: string) {
  const views: CheckoutBody[] = []
  const aborted = new AbortController()
  const response = await fetch(`${gatewayUrl}/api/v1/checkout/${orderId}/stream`, { signal: aborted.signal })
  const reading = (async () => {
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString('utf8')
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) if (event.startsWith('event: checkout')) views.push(JSON.parse(event.slice(event.indexOf('{'))))
    }
  })().catch(error => {
    if (!aborted.signal.aborted) throw error
  })
  const close = async () => {
    aborted.abort()
    await reading
  }
  return { views, close }
}
