import { program, type Section, shell } from '../section'
import { signature } from './programs/production'
import { receivers } from './programs/receivers'

export const webhooksGuide: Section[] = [
  {
    id: 'rules',
    title: 'Five rules',
    html: `<ol><li>Verify <code>X-Service-Signature</code> over the raw bytes, before any parser: serialised again, the same JSON has other bytes. Compare in constant time; answer 401 when it does not fit.</li>
<li>Answer 2xx within 15 seconds. Everything else, redirects too, is tried again after 1 minute, 5 minutes, 30 minutes, 2 hours, 12 hours and 24 hours; then the delivery is dead and can be
replayed from the dashboard.</li>
<li>An event may come twice. Its key is <code>type</code>, <code>data.id</code> and <code>data.tx_hash</code> together: one transaction may pay two orders. Write the key and the effect in one transaction of your database.</li>
<li>Events come in no promised order. <code>paid_at</code> orders payments; <code>GET /api/v1/events?after=</code> gives everything in order and without gaps.</li>
<li>Before you ship, compare <code>external_ref</code> and <code>brl_amount</code> with your own invoice.</li></ol>`,
  },
  {
    id: 'code',
    title: 'A receiver in four languages',
    html: `<p>Each is whole and runs as it stands, with <code>PONTE_WEBHOOK_SECRET</code> and <code>PORT</code> set.</p>${program(
      'webhook',
      receivers,
    )}`,
  },
  {
    id: 'wrong',
    title: 'When a signature does not fit',
    html: `${shell('npx @ponte/cli verify --body body.json --signature "$SIGNATURE"')}<p>It reads the secret from <code>PONTE_WEBHOOK_SECRET</code>, or asks for it; tries what usually goes wrong and names it: a body that was parsed and serialised again, a line end that an editor added, a secret with a space or without its prefix,
the header of the other format, a rotated secret.</p>`,
  },
  {
    id: 'rotation',
    title: 'Another secret',
    html: `<p>Rotate it in the dashboard, give your receiver both, then activate the new one. It is in force by itself after 24 hours. Each webhook carries one signature, by the secret in force at
that moment: a receiver that takes either loses none.</p>${program('signature', signature)}`,
  },
  {
    id: 'firewall',
    title: 'Where webhooks go',
    html: `<p>To public addresses over http or https. <code>localhost</code>, private, link-local and unique-local addresses are refused, and such a delivery is dead at once. To receive on a laptop use
<code>ponte listen</code>; to receive nothing from outside at all, <a href="/docs/production#pull">pull</a>.</p>`,
  },
]
