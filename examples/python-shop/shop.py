"""A shop with one product, without the SDK and without any library: Python 3.8 or newer."""

import hashlib
import hmac
import json
import os
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

URL = os.environ["PONTE_URL"]
API_KEY = os.environ["PONTE_API_KEY"]
SECRET = os.environ["PONTE_WEBHOOK_SECRET"].encode()
PORT = int(os.environ.get("PORT", "3000"))

# In memory here; in a real shop both stand in one database and change in one transaction.
invoices = {}
handled = set()
lock = Lock()


def create_order(number, brl_amount):
    """The invoice's number is the Idempotency-Key: sent again, it is the same order."""
    request = urllib.request.Request(
        f"{URL}/api/v1/orders",
        data=json.dumps({"brl_amount": brl_amount, "external_ref": number}).encode(),
        headers={
            "Authorization": f"Bearer {API_KEY}",
            "Content-Type": "application/json",
            "Idempotency-Key": f"invoice-{number}",
        },
    )
    with urllib.request.urlopen(request, timeout=15) as answer:
        return json.load(answer)


def handle(event):
    data = event["data"]
    key = (event["type"], data["id"], data.get("tx_hash"))
    with lock:
        if key in handled:
            return
        invoice = invoices.get(data.get("external_ref"))
        if invoice and event["type"] == "order.paid" and data["brl_amount"] == invoice["brl_amount"]:
            invoice.update(status="paid", tx_hash=data["tx_hash"])
        elif invoice and event["type"] == "order.underpaid":
            invoice.update(status=f"{data['received']} of {data['expected']} USDC came")
        elif invoice and event["type"] == "order.expired":
            invoice.update(status="expired")
        handled.add(key)


class Shop(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/webhooks":
            return self.webhook(body)
        if self.path.startswith("/buy/"):
            return self.buy(self.path[len("/buy/"):])
        self.answer(404)

    def do_GET(self):
        invoice = invoices.get(self.path[len("/invoices/"):])
        self.answer(200 if invoice else 404, json.dumps(invoice or {"status": "unknown"}))

    def webhook(self, body):
        expected = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        given = self.headers.get("X-Service-Signature", "")
        if not hmac.compare_digest(expected.encode(), given.encode()):
            return self.answer(401)
        handle(json.loads(body))
        self.answer(200)

    def buy(self, number):
        invoice = invoices.setdefault(number, {"number": number, "brl_amount": "35.00", "status": "open"})
        try:
            order = create_order(number, invoice["brl_amount"])
        except urllib.error.HTTPError as error:
            return self.answer(503, error.read().decode())
        except OSError as error:
            return self.answer(503, str(error))
        self.send_response(303)
        self.send_header("Location", order["payment"]["checkout_url"])
        self.end_headers()

    def answer(self, status, text=""):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    print(f"The shop is at http://127.0.0.1:{PORT}", flush=True)
    ThreadingHTTPServer(("127.0.0.1", PORT), Shop).serve_forever()
