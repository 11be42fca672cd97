import type { Program } from '../../section'

/** The client of the API that the other programs use. */
export const client: Program = {
  TypeScript: `
import { Ponte } from '@ponte/sdk'

export const ponte = new Ponte(process.env.PONTE_API_KEY, { baseUrl: process.env.PONTE_URL ?? '' })
`,
  Python: `
import json, os, time, urllib.error, urllib.request


class Refused(Exception):
    def __init__(self, problem):
        super().__init__(f"{problem.get('code')}: {problem.get('detail')}")
        self.problem = problem


def ponte(method, path, body=None, key=None):
    headers = {"Authorization": "Bearer " + os.environ["PONTE_API_KEY"]}
    if body is not None:
        headers["Content-Type"] = "application/json"
    if key is not None:
        headers["Idempotency-Key"] = key
    data = None if body is None else json.dumps(body).encode()
    url = os.environ["PONTE_URL"] + "/api/v1" + path
    attempt = 1
    while True:
        try:
            request = urllib.request.Request(url, data, headers, method=method)
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 502, 503, 504):
                raise Refused(json.load(error)) from None
            failure = error
        except OSError as error:  # no answer: it may have taken effect all the same
            failure = error
        if attempt == 3 or (method != "GET" and key is None):
            raise failure
        time.sleep(attempt)
        attempt += 1
`,
  PHP: `
<?php
class Refused extends RuntimeException
{
    public function __construct(public array $problem)
    {
        parent::__construct(($problem['code'] ?? '') . ': ' . ($problem['detail'] ?? ''));
    }
}

function ponte(string $method, string $path, ?array $body = null, ?string $key = null): array
{
    $headers = ['Authorization: Bearer ' . getenv('PONTE_API_KEY')];
    if ($body !== null) $headers[] = 'Content-Type: application/json';
    if ($key !== null) $headers[] = 'Idempotency-Key: ' . $key;
    $http = ['method' => $method, 'header' => $headers, 'timeout' => 30, 'ignore_errors' => true];
    if ($body !== null) $http['content'] = json_encode($body, JSON_THROW_ON_ERROR);
    for ($attempt = 1; ; $attempt++) {
        $stream = @fopen(getenv('PONTE_URL') . '/api/v1' . $path, 'r', false, stream_context_create(['http' => $http]));
        $status = $stream ? (int) substr(stream_get_meta_data($stream)['wrapper_data'][0], 9, 3) : 0;
        $answer = $stream ? stream_get_contents($stream) : '';
        if (!in_array($status, [0, 429, 502, 503, 504], true)) break;
        // No answer: it may have taken effect all the same.
        if ($attempt === 3 || ($method !== 'GET' && $key === null)) throw new RuntimeException('Ponte does not answer: ' . $status);
        sleep($attempt);
    }
    $json = json_decode($answer, true, 512, JSON_THROW_ON_ERROR);
    return $status < 300 ? $json : throw new Refused($json);
}
`,
}

export const order: Program = {
  TypeScript: `
import { ponte } from './ponte.ts'

const order = await ponte.orders.create(
  { brl_amount: '150.00', external_ref: 'INV-7' },
  { idempotencyKey: 'INV-7' },
)
console.log(order.payment.checkout_url)
`,
  Python: `
from ponte import ponte

order = ponte("POST", "/orders", {"brl_amount": "150.00", "external_ref": "INV-7"}, key="INV-7")
print(order["payment"]["checkout_url"])
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';

$order = ponte('POST', '/orders', ['brl_amount' => '150.00', 'external_ref' => 'INV-7'], key: 'INV-7');
echo $order['payment']['checkout_url'], PHP_EOL;
`,
}
