import type { Program } from '../../section'

export const returnable: Program = {
  TypeScript: `
import { ponte } from './ponte.ts'

const [orderId = ''] = process.argv.slice(2)
const { returnable, surplus, platform_fee } = await ponte.refunds.list(orderId)
console.log('returnable', returnable, 'surplus', surplus, 'fee', platform_fee)
`,
  Python: `
import sys
from ponte import ponte

found = ponte("GET", f"/orders/{sys.argv[1]}/refunds")
print("returnable", found["returnable"], "surplus", found["surplus"], "fee", found["platform_fee"])
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';

$found = ponte('GET', "/orders/$argv[1]/refunds");
echo "returnable {$found['returnable']} surplus {$found['surplus']} fee {$found['platform_fee']}", PHP_EOL;
`,
}

export const refund: Program = {
  TypeScript: `
import { writeFileSync } from 'node:fs'
import { ponte } from './ponte.ts'

const [orderId = '', payee = '', caseNumber = ''] = process.argv.slice(2)
const body = { surplus: true as const, payee_address: payee, reason: 'Paid too much, case ' + caseNumber }
const { id } = await ponte.refunds.create(orderId, body, { idempotencyKey: 'refund-' + caseNumber })
const refund = await ponte.refunds.get(id) // with the moment until which it can be signed, from now on
writeFileSync('typed-data.json', JSON.stringify(refund.typed_data)) // your wallet signs this
console.log(refund.id, refund.status, refund.amount)
`,
  Python: `
import json, sys
from ponte import ponte

order_id, payee, case_number = sys.argv[1:]
body = {"surplus": True, "payee_address": payee, "reason": "Paid too much, case " + case_number}
made = ponte("POST", f"/orders/{order_id}/refunds", body, key="refund-" + case_number)
refund = ponte("GET", "/refunds/" + made["id"])  # with the moment until which it can be signed, from now on
with open("typed-data.json", "w") as file:
    json.dump(refund["typed_data"], file)  # your wallet signs this
print(refund["id"], refund["status"], refund["amount"])
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';

[, $order_id, $payee, $case_number] = $argv;
$body = ['surplus' => true, 'payee_address' => $payee, 'reason' => "Paid too much, case $case_number"];
$made = ponte('POST', "/orders/$order_id/refunds", $body, key: "refund-$case_number");
$refund = ponte('GET', '/refunds/' . $made['id']); // with the moment until which it can be signed, from now on
file_put_contents('typed-data.json', json_encode($refund['typed_data'])); // your wallet signs this
echo $refund['id'], ' ', $refund['status'], ' ', $refund['amount'], PHP_EOL;
`,
}

export const signRefund: Program = {
  TypeScript: `
import { readFileSync } from 'node:fs'
import { ponte } from './ponte.ts'

const [refundId = '', signature = ''] = process.argv.slice(2)
const { message } = JSON.parse(readFileSync('typed-data.json', 'utf8'))
const refund = await ponte.refunds.sign(refundId, { valid_before: Number(message.validBefore), signature })
console.log(refund.id, refund.status)
`,
  Python: `
import json, sys
from ponte import ponte

refund_id, signature = sys.argv[1:]
message = json.load(open("typed-data.json"))["message"]
body = {"valid_before": int(message["validBefore"]), "signature": signature}
refund = ponte("POST", f"/refunds/{refund_id}/signature", body, key="signature-" + refund_id + "-" + message["validBefore"])
print(refund["id"], refund["status"])
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';

[, $refund_id, $signature] = $argv;
$message = json_decode(file_get_contents('typed-data.json'), true)['message'];
$body = ['valid_before' => (int) $message['validBefore'], 'signature' => $signature];
$refund = ponte('POST', "/refunds/$refund_id/signature", $body, key: "signature-$refund_id-{$message['validBefore']}");
echo $refund['id'], ' ', $refund['status'], PHP_EOL;
`,
}

export const claim: Program = {
  TypeScript: `
import { ponte } from './ponte.ts'

const [orderId = '', caseNumber = ''] = process.argv.slice(2)
const body = { surplus: true as const, reason: 'Paid too much, case ' + caseNumber }
const claim = await ponte.refunds.createClaim(orderId, body, { idempotencyKey: 'claim-' + caseNumber })
console.log(claim.amount, claim.url) // for the payer alone
`,
  Python: `
import sys
from ponte import ponte

order_id, case_number = sys.argv[1:]
body = {"surplus": True, "reason": "Paid too much, case " + case_number}
claim = ponte("POST", f"/orders/{order_id}/refund-claims", body, key="claim-" + case_number)
print(claim["amount"], claim["url"])  # for the payer alone
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';

[, $order_id, $case_number] = $argv;
$body = ['surplus' => true, 'reason' => "Paid too much, case $case_number"];
$claim = ponte('POST', "/orders/$order_id/refund-claims", $body, key: "claim-$case_number");
echo $claim['amount'], ' ', $claim['url'], PHP_EOL; // for the payer alone
`,
}
