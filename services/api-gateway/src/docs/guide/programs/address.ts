import type { Program } from '../../section'

/** The deposit address of an order; in Python and PHP without any library. A test holds all of them against the contract's. */
export const address: Program = {
  TypeScript: `
export { depositAddress } from '@ponte/sdk'
`,
  Python: String.raw`
MASK = (1 << 64) - 1

def rotate(lane, by):
    return (lane << by | lane >> (64 - by)) & MASK

def keccak256(data):
    lanes, rate = [0] * 25, 136
    data = bytearray(data + b"\x01" + bytes(-len(data) % rate or rate))[: (len(data) // rate + 1) * rate]
    data[-1] |= 0x80
    for start in range(0, len(data), rate):
        for at in range(rate // 8):
            lanes[at] ^= int.from_bytes(data[start + 8 * at : start + 8 * at + 8], "little")
        register = 1
        for _ in range(24):
            column = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
            lanes = [lane ^ column[(at + 4) % 5] ^ rotate(column[(at + 1) % 5], 1) for at, lane in enumerate(lanes)]
            moved, x, y = list(lanes), 1, 0
            for step in range(24):
                moved[y + (2 * x + 3 * y) % 5 * 5] = rotate(lanes[x + 5 * y], (step + 1) * (step + 2) // 2 % 64)
                x, y = y, (2 * x + 3 * y) % 5
            lanes = [moved[at] ^ ~moved[at // 5 * 5 + (at + 1) % 5] & MASK & moved[at // 5 * 5 + (at + 2) % 5] for at in range(25)]
            for bit in range(7):
                lanes[0] ^= (register & 1) << ((1 << bit) - 1)
                register = register << 1 ^ (0x171 if register & 0x80 else 0)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])

def deposit_address(router, memo, payout_address):
    router, payout = (bytes.fromhex(address.removeprefix("0x")) for address in (router, payout_address))
    implementation = keccak256(b"\xd6\x94" + router + b"\x01")[12:]
    clone = bytes.fromhex("3d602d80600a3d3981f3363d3d373d3d3d363d73") + implementation + bytes.fromhex("5af43d82803e903d91602b57fd5bf3")
    salt = keccak256(bytes.fromhex(memo.removeprefix("0x")) + bytes(12) + payout)
    return "0x" + keccak256(b"\xff" + router + salt + keccak256(clone))[12:].hex()
`,
  PHP: String.raw`
<?php
// GMP and BCMath are not needed: PHP's integers are the 64 bits of a lane.
function rotate(int $lane, int $by): int
{
    return $by === 0 ? $lane : $lane << $by | ($lane >> (64 - $by) & ~(-1 << $by));
}

function keccak256(string $data): string
{
    $data .= "\x01" . str_repeat("\0", 135 - strlen($data) % 136);
    $data[-1] = $data[-1] | "\x80";
    $lanes = array_fill(0, 25, 0);
    foreach (str_split($data, 136) as $block) {
        foreach (array_values(unpack('P17', $block)) as $at => $lane) $lanes[$at] ^= $lane;
        $register = 1;
        for ($round = 0; $round < 24; $round++) {
            $column = [];
            for ($x = 0; $x < 5; $x++) $column[] = $lanes[$x] ^ $lanes[$x + 5] ^ $lanes[$x + 10] ^ $lanes[$x + 15] ^ $lanes[$x + 20];
            foreach ($lanes as $at => $lane) $lanes[$at] = $lane ^ $column[($at + 4) % 5] ^ rotate($column[($at + 1) % 5], 1);
            [$moved, $x, $y] = [$lanes, 1, 0];
            for ($step = 0; $step < 24; $step++) {
                $moved[$y + (2 * $x + 3 * $y) % 5 * 5] = rotate($lanes[$x + 5 * $y], intdiv(($step + 1) * ($step + 2), 2) % 64);
                [$x, $y] = [$y, (2 * $x + 3 * $y) % 5];
            }
            foreach ($moved as $at => $lane) {
                $row = $at - $at % 5;
                $lanes[$at] = $lane ^ ~$moved[$row + ($at + 1) % 5] & $moved[$row + ($at + 2) % 5];
            }
            for ($bit = 0; $bit < 7; $bit++) {
                $lanes[0] ^= ($register & 1) << (1 << $bit) - 1;
                $register = $register << 1 ^ ($register & 0x80 ? 0x171 : 0);
            }
        }
    }
    return pack('P4', ...array_slice($lanes, 0, 4));
}

function deposit_address(string $router, string $memo, string $payout_address): string
{
    $bytes = fn(string $hex) => hex2bin(preg_replace('/^0x/', '', $hex));
    $implementation = substr(keccak256("\xd6\x94" . $bytes($router) . "\x01"), 12);
    $clone = $bytes('3d602d80600a3d3981f3363d3d373d3d3d363d73') . $implementation . $bytes('5af43d82803e903d91602b57fd5bf3');
    $salt = keccak256($bytes($memo) . str_repeat("\0", 12) . $bytes($payout_address));
    return '0x' . bin2hex(substr(keccak256("\xff" . $bytes($router) . $salt . keccak256($clone)), 12));
}
`,
}

/** An order that is sent to a payer only where its money ends at the merchant's own address. */
export const checkedOrder: Program = {
  TypeScript: `
import { Ponte } from '@ponte/sdk'

const { PONTE_PAYOUT_ADDRESS: address = '', PONTE_ROUTER: router = '' } = process.env // from your configuration
const ponte = new Ponte(process.env.PONTE_API_KEY, { baseUrl: process.env.PONTE_URL ?? '', payout: { address, router } })
const order = await ponte.orders.create({ brl_amount: '150.00', external_ref: 'INV-8' }, { idempotencyKey: 'INV-8' })
console.log(order.payment.checkout_url)
`,
  Python: `
import os, sys
from address import deposit_address
from ponte import ponte

address, router = os.environ["PONTE_PAYOUT_ADDRESS"].lower(), os.environ["PONTE_ROUTER"].lower()  # from your configuration
order = ponte("POST", "/orders", {"brl_amount": "150.00", "external_ref": "INV-8"}, key="INV-8")
payment, own = order["payment"], [address, router, deposit_address(router, order["memo"], address)]
for there in payment, *payment.get("networks", []):
    named = there.get("merchant_address", payment["merchant_address"]), there["router_address"], there["deposit_address"]
    if [one.lower() for one in named] != own:
        sys.exit("address_mismatch: do not use this checkout, and ask who changed it")
print(payment["checkout_url"])
`,
  PHP: `
<?php
require __DIR__ . '/ponte.php';
require __DIR__ . '/address.php';

[$address, $router] = [strtolower(getenv('PONTE_PAYOUT_ADDRESS')), strtolower(getenv('PONTE_ROUTER'))]; // from your configuration
$order = ponte('POST', '/orders', ['brl_amount' => '150.00', 'external_ref' => 'INV-8'], key: 'INV-8');
$payment = $order['payment'];
$own = [$address, $router, deposit_address($router, $order['memo'], $address)];
foreach ([$payment, ...$payment['networks'] ?? []] as $there) {
    $named = [$there['merchant_address'] ?? $payment['merchant_address'], $there['router_address'], $there['deposit_address']];
    if (array_map(strtolower(...), $named) === $own) continue;
    fwrite(STDERR, 'address_mismatch: do not use this checkout, and ask who changed it' . PHP_EOL);
    exit(1);
}
echo $payment['checkout_url'], PHP_EOL;
`,
}
