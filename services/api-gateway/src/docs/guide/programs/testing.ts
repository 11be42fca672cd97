import type { Program } from '../../section'

/** A signed webhook for a receiver under test. */
export const sendWebhook: Program = {
  TypeScript: `
import { signTestWebhook } from '@ponte/sdk'

const [receiver = ''] = process.argv.slice(2)
const data = { id: '0197f3a0-0000-7000-8000-000000000000', external_ref: 'INV-7' }
const { body, headers } = await signTestWebhook({ type: 'order.expired', data }, process.env.PONTE_WEBHOOK_SECRET ?? '')
const post = async (text: string) => (await fetch(receiver, { method: 'POST', headers, body: text })).status
console.log('signed', await post(body), 'again', await post(body), 'forged', await post(body + ' '))
`,
  Python: `
import hashlib, hmac, json, os, sys, urllib.error, urllib.request

data = {"id": "0197f3a0-0000-7000-8000-000000000000", "external_ref": "INV-7"}
body = json.dumps({"type": "order.expired", "data": data}).encode()
signature = hmac.new(os.environ["PONTE_WEBHOOK_SECRET"].encode(), body, hashlib.sha256).hexdigest()


def post(text):
    headers = {"Content-Type": "application/json", "X-Service-Signature": signature}
    try:
        return urllib.request.urlopen(urllib.request.Request(sys.argv[1], text, headers)).status
    except urllib.error.HTTPError as error:
        return error.code


print("signed", post(body), "again", post(body), "forged", post(body + b" "))
`,
  PHP: `
<?php
$data = ['id' => '0197f3a0-0000-7000-8000-000000000000', 'external_ref' => 'INV-7'];
$body = json_encode(['type' => 'order.expired', 'data' => $data]);
$signature = hash_hmac('sha256', $body, getenv('PONTE_WEBHOOK_SECRET'));

function post(string $text): string
{
    global $argv, $signature;
    $headers = ['Content-Type: application/json', 'X-Service-Signature: ' . $signature];
    $http = ['method' => 'POST', 'header' => $headers, 'content' => $text, 'ignore_errors' => true];
    $stream = fopen($argv[1], 'r', false, stream_context_create(['http' => $http]));
    return substr(stream_get_meta_data($stream)['wrapper_data'][0], 9, 3);
}

echo 'signed ', post($body), ' again ', post($body), ' forged ', post($body . ' '), PHP_EOL;
`,
}
