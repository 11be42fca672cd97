import type { Program } from '../../section'

/** Receivers of webhooks, whole and without the SDK. A test starts each and sends it signed bodies. */
export const receivers = {
  TypeScript: `import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = process.env.PONTE_WEBHOOK_SECRET ?? ''
const seen = new Set<string>() // a table with a unique column in production

function isSigned(body: Buffer, header: unknown): boolean {
  const expected = createHmac('sha256', secret).update(body).digest()
  const given = Buffer.from(String(header ?? ''), 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks) // the raw bytes, before any parser
  if (!isSigned(body, request.headers['x-service-signature'])) return response.writeHead(401).end()
  const { type, data } = JSON.parse(body.toString('utf8'))
  const key = [type, data.id, data.tx_hash].join(':')
  if (!seen.has(key)) {
    seen.add(key)
    console.log(type, data.id, data.external_ref)
  }
  response.writeHead(200).end()
}).listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
`,
  Python: `import hashlib, hmac, json, os
from http.server import BaseHTTPRequestHandler, HTTPServer

secret = os.environ["PONTE_WEBHOOK_SECRET"].encode()
seen = set()  # a table with a unique column in production


class Webhooks(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))  # the raw bytes, before any parser
        expected = hmac.new(secret, body, hashlib.sha256).hexdigest()
        given = self.headers.get("X-Service-Signature", "")
        if not hmac.compare_digest(expected.encode(), given.encode()):
            self.send_response(401)
            self.end_headers()
            return
        event = json.loads(body)
        data = event["data"]
        key = (event["type"], data["id"], data.get("tx_hash"))
        if key not in seen:
            seen.add(key)
            print(event["type"], data["id"], data.get("external_ref"), flush=True)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args):
        pass


HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Webhooks).serve_forever()
`,
  PHP: `<?php
// Run: PONTE_WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:3000 webhook.php
$body = file_get_contents('php://input'); // the raw bytes, before any parser
$expected = hash_hmac('sha256', $body, getenv('PONTE_WEBHOOK_SECRET'));
if (!hash_equals($expected, $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '')) {
    http_response_code(401);
    exit;
}
$event = json_decode($body, true, 512, JSON_THROW_ON_ERROR);
$data = $event['data'];
$key = implode(':', [$event['type'], $data['id'], $data['tx_hash'] ?? '']);
// INSERT $key into a table with a unique column; when it is there already, answer 200 and do nothing.
error_log($event['type'] . ' ' . $data['id'] . ' ' . ($data['external_ref'] ?? ''));
http_response_code(200);
`,
  Go: `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
)

type event struct {
	Type string \`json:"type"\`
	Data struct {
		ID          string  \`json:"id"\`
		TxHash      string  \`json:"tx_hash"\`
		ExternalRef *string \`json:"external_ref"\`
	} \`json:"data"\`
}

func main() {
	secret := []byte(os.Getenv("PONTE_WEBHOOK_SECRET"))
	var seen sync.Map // a table with a unique column in production
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)) // the raw bytes, before any parser
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		given, _ := hex.DecodeString(r.Header.Get("X-Service-Signature"))
		if !hmac.Equal(mac.Sum(nil), given) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var e event
		if err := json.Unmarshal(body, &e); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if _, known := seen.LoadOrStore(e.Type+":"+e.Data.ID+":"+e.Data.TxHash, true); !known {
			fmt.Println(e.Type, e.Data.ID)
		}
		w.WriteHeader(http.StatusOK)
	})
	http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil)
}
`,
} satisfies Program

/** The receiver of the quickstart: in TypeScript by the SDK. */
export const firstReceiver: Program = {
  TypeScript: `
import { createServer } from 'node:http'
import { webhookHandler } from '@ponte/sdk/express' // for Express and for node:http alike

const webhooks = webhookHandler({
  secret: process.env.PONTE_WEBHOOK_SECRET ?? '', // as ponte listen prints it
  on: { 'order.paid': order => console.log('order.paid', order.id, order.external_ref) },
  seen: new Set(), // a table with a unique column in production
})
createServer(webhooks).listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
`,
  Python: receivers.Python,
  PHP: receivers.PHP,
}
