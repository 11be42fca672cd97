import { testScenarioName } from '@ponte/contracts'
import { c, program, type Section, shell, table } from '../section'
import { sendWebhook } from './programs/testing'

export const testingGuide: Section[] = [
  {
    id: 'without',
    title: 'Without a clone',
    html: `<p>Ask the operator for the URL of a test deployment, sign up in its dashboard and take the key: it begins with ${c('sk_test_')}. Its chain is a test chain and its USDC is worth nothing. The command line needs Node 20.19 or newer and no installation:</p>${shell(
      'npx @ponte/cli status',
    )}<p>It takes ${c('PONTE_URL')} and ${c('PONTE_API_KEY')} from the environment, as <a href="/docs/quickstart">the quickstart</a> sets them, or what ${c('login --url')} kept.</p>`,
  },
  {
    id: 'listen',
    title: 'Webhooks on your machine',
    html: `<p>No open port and no tunnel: events are pulled and posted to your program, signed with a secret that is printed. What came while it was away is forwarded afterwards, in order.</p>${shell(
      'npx @ponte/cli listen --forward-to http://127.0.0.1:3000/webhooks',
    )}<p>Then make an event happen, for real, from an order to its payment:</p>${shell('npx @ponte/cli trigger order.paid')}<p>${c('trigger')} without a known kind lists those that it can make.</p>`,
  },
  {
    id: 'alone',
    title: 'Your receiver alone',
    html: `<p>In the tests of your own program, without a network: sign a body as we do and post it to the receiver. It answers 200 twice, has one effect, and 401 for a forged one.</p>${program('send-webhook', sendWebhook)}`,
  },
  {
    id: 'test',
    title: 'What a test deployment can do',
    html: `<p>With a key of a test deployment; elsewhere these paths do not exist.</p>${table(
      ['Request', 'Effect'],
      [
        [`${c('POST /api/v1/test/faucet')} ${c('{address, amount}')}`, 'USDC for a wallet of yours'],
        [
          `${c('POST /api/v1/test/orders/{id}/pay')} ${c('{amount?, via}')}`,
          `The order is paid; ${c('via')} is ${['transfer', 'router', 'signature'].map(c).join(', ')} or ${c('exchange')}`,
        ],
        [
          `${c('POST /api/v1/test/orders/{id}/simulate')} ${c('{scenario}')}`,
          `One of the exceptions happens to it, on the real test chain: ${testScenarioName.options.map(c).join(', ')}; ${c('GET /api/v1/test/scenarios')} names the events to expect`,
        ],
        [
          `${c('GET')} and ${c('POST /api/v1/test/clock')} ${c('{advance}')} or ${c('{to}')}`,
          'Time moves on, for plans, expiries and webhooks that are tried again, and for everyone in this deployment',
        ],
      ],
    )}<p>By the command line: ${c('ponte simulate')} lists the exceptions, ${c('ponte simulate ORDER late')} has one happen, ${c('ponte clock P1M')} moves time on by a month; by the SDK: ${c('ponte.testing')}.</p><p>${c('livemode')} is false on its objects. A live deployment refuses keys of a test one, and the other way round.</p>`,
  },
]
