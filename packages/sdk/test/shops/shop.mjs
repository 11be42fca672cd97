import { Ponte, PonteError, signTestWebhook, verifyWebhook } from '@ponte/sdk'
import { webhookHandler } from '@ponte/sdk/fetch'

const { body, headers } = await signTestWebhook({ type: 'order.expired', data: { id: 'a', external_ref: null } }, 'whsec_test')
const event = await verifyWebhook(body, headers['X-Service-Signature'], 'whsec_test')
const answer = await webhookHandler({ secret: 'whsec_test', on: {} })(new Request('http://shop.example', { method: 'POST', body, headers }))
const code = await verifyWebhook(JSON.parse(body), 'x', 'whsec_test').catch(error => error instanceof PonteError && error.code)
console.log(JSON.stringify([event.type, answer.status, code, typeof new Ponte('sk', { baseUrl: 'https://pay.example.com' }).orders.create]))
