/** The deposit address of an order without the SDK and without any library. A test runs it against the SDK's. */
export const addressCode = `MASK = (1 << 64) - 1

def rotate(lane, by):
    return (lane << by | lane >> (64 - by)) & MASK

def keccak256(data):
    lanes, rate = [0] * 25, 136
    data = bytearray(data + b"\\x01" + bytes(-len(data) % rate or rate))[: (len(data) // rate + 1) * rate]
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
    implementation = keccak256(b"\\xd6\\x94" + router + b"\\x01")[12:]
    clone = bytes.fromhex("3d602d80600a3d3981f3363d3d373d3d3d363d73") + implementation + bytes.fromhex("5af43d82803e903d91602b57fd5bf3")
    salt = keccak256(bytes.fromhex(memo.removeprefix("0x")) + bytes(12) + payout)
    return "0x" + keccak256(b"\\xff" + router + salt + keccak256(clone))[12:].hex()
`
