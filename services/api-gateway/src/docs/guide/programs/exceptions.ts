import type { Program } from '../../section'

export const attention: Program = {
  TypeScript: `
import { ponte } from './ponte.ts'

for await (const item of ponte.attention.list()) {
  console.log(item.id, item.reasons.join('+'), 'came', item.gross, 'left over', item.left_over, item.actions?.join(' '))
}
`,
  Python: `
from ponte import ponte

path = "/attention?limit=100"
while path:
    page = ponte("GET", path)
    for item in page["data"]:
        print(item["id"], "+".join(item["reasons"]), "came", item["gross"], "left over", item["left_over"], *item["actions"])
    path = page["has_more"] and "/attention?limit=100&starting_after=" + page["data"][-1]["id"]
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';

$query = '';
do {
    $page = ponte('GET', '/attention?limit=100' . $query);
    foreach ($page['data'] as $item)
        echo implode(' ', [$item['id'], implode('+', $item['reasons']), 'came', $item['gross'],
            'left over', $item['left_over'], ...$item['actions']]), PHP_EOL;
    $query = '&starting_after=' . ($item['id'] ?? '');
} while ($page['has_more']);
`,
}

export const accept: Program = {
  TypeScript: `
import { ponte } from './ponte.ts'

const [orderId = '', reason = ''] = process.argv.slice(2)
const order = await ponte.orders.accept(orderId, { reason })
console.log(order.status, order.accepted?.given_away)
`,
  Python: `
import sys
from ponte import ponte

order_id, reason = sys.argv[1:]
order = ponte("POST", f"/orders/{order_id}/accept", {"reason": reason}, key="accept-" + order_id)
print(order["status"], order["accepted"]["given_away"])
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';

[, $order_id, $reason] = $argv;
$order = ponte('POST', "/orders/$order_id/accept", ['reason' => $reason], key: "accept-$order_id");
echo $order['status'], ' ', $order['accepted']['given_away'], PHP_EOL;
`,
}

export const explain: Program = {
  TypeScript: `
import { ponte } from './ponte.ts'

const [orderId = '', transaction = ''] = process.argv.slice(2) // its hash, or a block explorer's link to it
const { code, detail } = await ponte.orders.explain(orderId, { tx_hash: transaction })
console.log(code, detail)
`,
  Python: `
import sys
from ponte import ponte

order_id, transaction = sys.argv[1:]  # its hash, or a block explorer's link to it
found = ponte("POST", f"/orders/{order_id}/explain", {"tx_hash": transaction})
print(found["code"], found["detail"])
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';

[, $order_id, $transaction] = $argv; // its hash, or a block explorer's link to it
$found = ponte('POST', "/orders/$order_id/explain", ['tx_hash' => $transaction]);
echo $found['code'], ' ', $found['detail'], PHP_EOL;
`,
}

export const attach: Program = {
  TypeScript: `
import { ponte } from './ponte.ts'

const [itemId = '', orderId = '', reason = ''] = process.argv.slice(2)
const order = await ponte.attention.attach(itemId, { order_id: orderId, reason })
console.log(order.id, order.status)
`,
  Python: `
import sys
from ponte import ponte

item_id, order_id, reason = sys.argv[1:]
order = ponte("POST", f"/attention/{item_id}/attach", {"order_id": order_id, "reason": reason}, key="attach-" + item_id)
print(order["id"], order["status"])
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';

[, $item_id, $order_id, $reason] = $argv;
$order = ponte('POST', "/attention/$item_id/attach", ['order_id' => $order_id, 'reason' => $reason], key: "attach-$item_id");
echo $order['id'], ' ', $order['status'], PHP_EOL;
`,
}

export const recover: Program = {
  TypeScript: `
import { ponte } from './ponte.ts'

const [orderId = '', token = '', payoutAddress = ''] = process.argv.slice(2)
const recovery = await ponte.orders.recover(orderId, { token_address: token, destination: payoutAddress })
console.log(recovery.id, recovery.status)
`,
  Python: `
import sys
from ponte import ponte

order_id, token, payout_address = sys.argv[1:]
body = {"token_address": token, "destination": payout_address}
recovery = ponte("POST", f"/orders/{order_id}/recoveries", body)
print(recovery["id"], recovery["status"])
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';

[, $order_id, $token, $payout_address] = $argv;
$body = ['token_address' => $token, 'destination' => $payout_address];
$recovery = ponte('POST', "/orders/$order_id/recoveries", $body);
echo $recovery['id'], ' ', $recovery['status'], PHP_EOL;
`,
}
