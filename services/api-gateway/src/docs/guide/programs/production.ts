import type { Program } from '../../section'

/** A signature by either of two secrets, while one of them is replaced. */
export const signature: Program = {
  TypeScript: `
import { verifyWebhook } from '@ponte/sdk'

const secrets = [process.env.PONTE_WEBHOOK_SECRET ?? '', process.env.PONTE_WEBHOOK_SECRET_NEW ?? ''].filter(Boolean)

/** The event of a webhook; it throws where neither secret made the signature. */
export const eventOf = (rawBody: Uint8Array, header: string) => verifyWebhook(rawBody, header, secrets)
`,
  Python: `
import hashlib, hmac, json, os

secrets = [os.environ[name] for name in ("PONTE_WEBHOOK_SECRET", "PONTE_WEBHOOK_SECRET_NEW") if os.environ.get(name)]


def event_of(raw_body, header):
    """The event of a webhook; it raises where neither secret made the signature."""
    made = [hmac.new(secret.encode(), raw_body, hashlib.sha256).hexdigest() for secret in secrets]
    if not any([hmac.compare_digest(one.encode(), header.encode()) for one in made]):
        raise ValueError("the signature does not fit")
    return json.loads(raw_body)
`,
  PHP: `
<?php
/** The event of a webhook; it throws where neither secret made the signature. */
function event_of(string $raw_body, string $header): array
{
    foreach (['PONTE_WEBHOOK_SECRET', 'PONTE_WEBHOOK_SECRET_NEW'] as $name) {
        $secret = getenv($name);
        if ($secret && hash_equals(hash_hmac('sha256', $raw_body, $secret), $header))
            return json_decode($raw_body, true, 512, JSON_THROW_ON_ERROR);
    }
    throw new RuntimeException('the signature does not fit');
}
`,
}

/** The comparison before the goods leave. */
export const ship: Program = {
  TypeScript: `
import { ponte } from './ponte.ts'

const [orderId = '', number = '', brlAmount = ''] = process.argv.slice(2) // the order, and your own invoice
const order = await ponte.orders.get(orderId)
const fits = order.status === 'paid' && order.external_ref === number && order.brl_amount === brlAmount
if (!fits) throw new Error('order ' + order.id + ' does not pay invoice ' + number)
console.log('ship', number)
`,
  Python: `
import sys
from ponte import ponte

order_id, number, brl_amount = sys.argv[1:]  # the order, and your own invoice
order = ponte("GET", "/orders/" + order_id)
if (order["status"], order["external_ref"], order["brl_amount"]) != ("paid", number, brl_amount):
    sys.exit(f"order {order['id']} does not pay invoice {number}")
print("ship", number)
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';

[, $order_id, $number, $brl_amount] = $argv; // the order, and your own invoice
$order = ponte('GET', '/orders/' . $order_id);
if ([$order['status'], $order['external_ref'], $order['brl_amount']] !== ['paid', $number, $brl_amount]) {
    fwrite(STDERR, "order {$order['id']} does not pay invoice $number" . PHP_EOL);
    exit(1);
}
echo "ship $number", PHP_EOL;
`,
}

export const events: Program = {
  TypeScript: `
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { ponte } from './ponte.ts'

const FILE = 'cursor.txt' // in production a row, written in the transaction of the effect
const after = existsSync(FILE) ? readFileSync(FILE, 'utf8') : 0
for await (const event of ponte.events.follow({ after })) {
  console.log(event.sequence, event.type)
  writeFileSync('cursor.new', String(event.cursor))
  renameSync('cursor.new', FILE) // never half written
}
`,
  Python: `
import os
from ponte import Refused, ponte

FILE = "cursor.txt"  # in production a row, written in the transaction of the effect
after = open(FILE).read() if os.path.exists(FILE) else "0"
while True:
    try:
        page = ponte("GET", f"/events?after={after}&wait=20&limit=100")
    except Refused as refused:
        if refused.problem["code"] != "events_reset":
            raise
        after = refused.problem["resume_after"]  # some events come again: know them by type and data
        continue
    for event in page["data"]:
        print(event["sequence"], event["type"], flush=True)
        after = event["cursor"]
        with open("cursor.new", "w") as file:
            file.write(after)
        os.replace("cursor.new", FILE)  # never half written
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';

const FILE = 'cursor.txt'; // in production a row, written in the transaction of the effect
$after = is_file(FILE) ? file_get_contents(FILE) : '0';
while (true) {
    try {
        $page = ponte('GET', "/events?after=$after&wait=20&limit=100");
    } catch (Refused $refused) {
        if ($refused->problem['code'] !== 'events_reset') throw $refused;
        $after = $refused->problem['resume_after']; // some events come again: know them by type and data
        continue;
    }
    foreach ($page['data'] as $event) {
        echo $event['sequence'], ' ', $event['type'], PHP_EOL;
        $after = $event['cursor'];
        file_put_contents('cursor.new', $after);
        rename('cursor.new', FILE); // never half written
    }
}
`,
}

/** Run by a monitor every few minutes. */
export const watch: Program = {
  TypeScript: `
import { ponte } from './ponte.ts'

const { data: waiting } = await ponte.attention.list({ limit: 100 })
const endpoints = await ponte.merchant.endpoints.list()
const failing = endpoints.filter(({ failing_since, dead }) => failing_since !== null || dead > 0)
for (const item of waiting) console.log('money', item.reasons.join('+'), item.left_over, item.id)
for (const { url, failing_since, dead } of failing) console.log('endpoint', url, failing_since, dead)
process.exitCode = waiting.length + failing.length > 0 ? 1 : 0
`,
  Python: `
import sys
from ponte import ponte

waiting = ponte("GET", "/attention?limit=100")["data"]
endpoints = ponte("GET", "/webhook-endpoints")["data"]
failing = [one for one in endpoints if one["failing_since"] is not None or one["dead"] > 0]
for item in waiting:
    print("money", "+".join(item["reasons"]), item["left_over"], item["id"])
for one in failing:
    print("endpoint", one["url"], one["failing_since"], one["dead"])
sys.exit(1 if waiting or failing else 0)
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';

$waiting = ponte('GET', '/attention?limit=100')['data'];
$endpoints = ponte('GET', '/webhook-endpoints')['data'];
$failing = array_filter($endpoints, fn($one) => $one['failing_since'] !== null || $one['dead'] > 0);
foreach ($waiting as $item) echo 'money ', implode('+', $item['reasons']), ' ', $item['left_over'], ' ', $item['id'], PHP_EOL;
foreach ($failing as $one) echo 'endpoint ', $one['url'], ' ', $one['failing_since'], ' ', $one['dead'], PHP_EOL;
exit($waiting || $failing ? 1 : 0);
`,
}
