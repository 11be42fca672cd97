import { join } from 'node:path'
import type { SamplePayment } from './demo'
import { DEMO_EMAIL, type Embedded, PAYER_ACCOUNT } from './embedded'

export function summary(
  { system, chain, otherChain, file, authUrl, receiverUrl }: Embedded,
  run: { sample: SamplePayment | null; seconds: number; folder: string },
): string {
  const { state } = file
  const key = state.demoMerchant?.api_key ?? ''
  const lines = [
    '',
    `Ponte is online (${run.seconds.toFixed(1)} s).`,
    '',
    `  Dashboard   ${system.gatewayUrl}/dashboard   ${DEMO_EMAIL} / ${state.demoPassword}`,
    `  API         ${system.gatewayUrl}/api/v1      reference: ${system.gatewayUrl}/docs`,
    `  API key     ${key}`,
    `  Webhooks    ${receiverUrl}/received   secret ${state.demoMerchant?.webhook_secret ?? ''}`,
    `  Login       ${authUrl}/auth/v1/token?grant_type=password`,
    `  Chain       ${chain.rpcUrl}   chain id ${chain.chainId}, USDC ${chain.usdcAddress}, router ${chain.routerAddress}`,
    ...(otherChain ? [`  and         ${otherChain.rpcUrl}   chain id ${otherChain.chainId}, the same addresses`] : []),
    `  Payer       ${PAYER_ACCOUNT.address}   private key ${PAYER_ACCOUNT.privateKey} (well known; for this chain only)`,
    `  Health      npm run status   (metrics: ${system.opsUrls['api-gateway']}/metrics and beside; ${join(run.folder, 'embedded.json')} names all)`,
    `  State       ${run.folder}`,
    ...(run.sample ? [`  Checkout    ${run.sample.order.payment.checkout_url}`] : []),
    '',
    'Create an order:',
    '',
    `  curl -s ${system.gatewayUrl}/api/v1/orders -H 'Authorization: Bearer ${key}' \\`,
    `    -H 'Content-Type: application/json' -d '{"brl_amount":"150.00","external_ref":"INV-7"}'`,
    '',
    'Pay it, as the sample payer would (USDC costs nothing here), or by the button below its checkout:',
    '',
    '  npm run pay -- <id or checkout link>',
    '',
    'Receive its webhooks in a program of your own, and list, trigger and verify (npm run ponte -- --help):',
    '',
    '  npm run ponte -- listen --forward-to http://127.0.0.1:3000/webhooks',
    '',
    'Webhooks that the merchant received so far:',
    '',
    `  curl -s ${receiverUrl}/received`,
    '',
    ...(run.sample
      ? [`The sample payment: ${run.sample.webhook.body}`, `X-Service-Signature: ${run.sample.webhook.headers['x-service-signature']}`, '']
      : []),
    'Ctrl-C stops. The next start goes on with this data; npm start -- --fresh starts anew.',
  ]
  return lines.join('\n')
}
