import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { secp256k1 } from '@noble/curves/secp256k1'
import { keccak_256 } from '@noble/hashes/sha3'
import { keyringOf, openSigned } from '../src/dossier/file'
import { signerOf } from '../src/dossier/personal-signature'
import { type Check, checkDossier, type Dossier } from '../src/dossier/verify'

// Made by tests/system/dossier.test.ts on a local chain, with RECORD_DOSSIER=packages/cli/test/recorded.
const recorded = readFileSync(join(__dirname, 'recorded/dossier.signed'))
const recordedKeys = keyringOf(readFileSync(join(__dirname, 'recorded/keys.json'), 'utf8'))
const dossier = (): Dossier => JSON.parse(recorded.toString()).dossier

const xOf = (key: KeyObject) => String(createPublicKey(key).export({ format: 'jwk' }).x)
const jwksOf = (key: KeyObject) => JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', x: xOf(key), kid: 'what it calls itself' }] })
const kidOf = (key: KeyObject) =>
  createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: xOf(key) }))
    .digest('base64url')
const own = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${'07'.repeat(32)}`, 'hex'),
  format: 'der',
  type: 'pkcs8',
})
const ownKeys = keyringOf(jwksOf(own))
const signed = (content: unknown, key = own) => {
  const value = sign(null, Buffer.from(JSON.stringify(content)), key).toString('base64url')
  return Buffer.from(JSON.stringify({ dossier: content, signature: { alg: 'Ed25519', kid: kidOf(key), value } }))
}
function pdf(content: unknown): Buffer {
  const body = Buffer.from(`%PDF-1.7\nnothing to see\n%%EOF\n%ponte-dossier:${signed(content).toString('base64url')}\n`)
  return Buffer.concat([body, Buffer.from(`%ponte-signature:${kidOf(own)}.${sign(null, body, own).toString('base64url')}\n`)])
}
const opens = (bytes: Uint8Array, keys = ownKeys) => {
  try {
    return openSigned(bytes, keys) !== null
  } catch {
    return false
  }
}
const failures = (checks: Check[]) => checks.filter(({ ok }) => ok === false).map(({ what, detail }) => `${what}: ${detail}`)
const changed = (change: (one: Dossier) => void) => {
  const one = dossier()
  change(one)
  return failures(checkDossier(one))
}

test('the recorded one is genuine, and says which payout address has no signature', () => {
  expect(openSigned(recorded, recordedKeys)).toMatchObject({ form: 'json' })
  const checks = checkDossier(dossier())
  expect(failures(checks)).toEqual([])
  expect(checks.filter(({ ok }) => ok === null).map(({ detail }) => detail)).toEqual(['set without a signature of its key'])
})

describe('a byte that was changed', () => {
  const small = { object: 'dossier', note: 'ação 漢字 "\\', amounts: ['1.000000', 7, null], nested: { list: [{}, []] } }

  test.each([
    ['JSON', signed(small)],
    ['PDF', pdf(small)],
  ])('fails at every place of a small %s, whichever bit it is', (_form, file) => {
    expect(opens(file)).toBe(true)
    const survivors: number[] = []
    for (let at = 0; at < file.length; at++)
      for (let bit = 0; bit < 8; bit++) {
        const other = Buffer.from(file)
        other[at] = (other[at] ?? 0) ^ (1 << bit)
        if (opens(other)) survivors.push(at)
      }
    expect(survivors).toEqual([])
  })

  test.each([
    ['JSON', signed(dossier())],
    ['PDF', pdf(dossier())],
  ])('fails at places of a whole %s', (_form, file) => {
    let seed = 41
    const next = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return seed % below
    }
    for (let count = 0; count < 1_500; count++) {
      const other = Buffer.from(file)
      const at = next(file.length)
      other[at] = ((other[at] ?? 0) + 1 + next(255)) % 256
      if (opens(other)) throw new Error(`seed 41: another byte at ${at} goes unseen`)
    }
  })

  test.each([
    ['white space at its end', Buffer.concat([signed(small), Buffer.from('\n')])],
    ['a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), signed(small)])],
    ['a name twice', Buffer.from(signed(small).toString().replace('{"dossier"', '{"dossier":1,"dossier"'))],
    ['one more name', Buffer.from(signed(small).toString().replace('{"dossier"', '{"more":1,"dossier"'))],
    ['an escape for a letter', Buffer.from(signed(small).toString().replace('"object"', '"\\u006fbject"'))],
    ['a PDF with something appended', Buffer.concat([pdf(small), Buffer.from('%%EOF\n')])],
    ['a PDF without its signature', pdf(small).subarray(0, -148)],
    ['half of it', signed(small).subarray(0, 100)],
    ['nothing', Buffer.alloc(0)],
  ])('fails as %s', (_what, file) => expect(opens(file)).toBe(false))
})

test('another key is none, also where it calls itself as the right one, or signs what the right one signed', () => {
  const stranger = generateKeyPairSync('ed25519').privateKey
  expect(opens(signed(dossier(), stranger))).toBe(false)
  expect(opens(signed(dossier(), stranger), keyringOf(jwksOf(stranger)))).toBe(true)
  const renamed = signed(dossier(), stranger).toString().replace(kidOf(stranger), kidOf(own))
  expect(opens(Buffer.from(renamed))).toBe(false)
  expect(opens(recorded)).toBe(false)
})

describe('an installation that lies', () => {
  const routed = (one: Dossier) => one.origins.find(({ kind }) => kind === 'router') as Dossier['origins'][number]
  const swept = (one: Dossier) => one.origins.find(({ kind }) => kind === 'sweep') as Dossier['origins'][number]
  const direct = (one: Dossier) => one.origins.find(({ kind }) => kind === 'direct') as Dossier['origins'][number]
  const proofOf = (one: Dossier, hash: string) => one.transactions.find(({ tx_hash }) => tx_hash === hash)
  const eachTransaction = (one: Dossier, change: (each: Dossier['transactions'][number]) => unknown) => {
    for (const each of one.transactions) change(each)
  }
  const eachProof = (one: Dossier, change: (proof: NonNullable<Dossier['transactions'][number]['proof']>) => unknown) =>
    eachTransaction(one, ({ proof }) => proof && change(proof))
  const OTHER = `0x${'11'.repeat(20)}`

  test.each<[string, (one: Dossier) => void]>([
    ['another amount', one => (routed(one).amount = '1.000000')],
    ['another fee', one => (routed(one).platform_fee = '0.000001')],
    ['more that counts than there is', one => (direct(one).counted = '900.000000')],
    ['another total', one => (one.total_usdc = '1.000000')],
    ['another payout address', one => (routed(one).payout_address = OTHER)],
    ['another router', one => (routed(one).router_address = OTHER)],
    ['another memo', one => (routed(one).memo = 'ab'.repeat(32))],
    ['another deposit address', one => (swept(one).deposit_address = OTHER)],
    ['another payer of a router payment', one => Object.assign(routed(one).payments[0] ?? {}, { payer_address: OTHER })],
    ['another payer of a transfer', one => Object.assign(swept(one).payments[0] ?? {}, { payer_address: OTHER })],
    ['another sender of a plain transfer', one => Object.assign(direct(one).payments[0] ?? {}, { payer_address: OTHER })],
    ['a payment that is left out', one => swept(one).payments.pop()],
    ['another token', one => (one.token_address = OTHER)],
    ['another log of the receipt', one => (routed(one).log_index += 1)],
    ['an origin twice', one => one.origins.push(structuredClone(routed(one)))],
    [
      'a transfer that counts for a share and by itself',
      one => {
        const share = routed(one)
        Object.assign(direct(one), { tx_hash: share.tx_hash, log_index: share.log_index - 1, amount: share.amount, counted: share.amount })
      },
    ],
    ['a transaction that is left out', one => one.transactions.shift()],
    ['another time of a block', one => eachTransaction(one, each => Object.assign(each, { block_time: '2026-01-01T00:00:00.000Z' }))],
    ['another number of a block', one => eachTransaction(one, each => Object.assign(each, { block_number: each.block_number + 1 }))],
    ['another hash of a block', one => eachTransaction(one, each => Object.assign(each, { block_hash: `0x${'11'.repeat(32)}` }))],
    ['another place in the block', one => eachProof(one, proof => Object.assign(proof, { receipt_index: proof.receipt_index + 1 }))],
    [
      'the receipt of another transaction',
      one => {
        const [first, second] = [proofOf(one, routed(one).tx_hash), proofOf(one, swept(one).tx_hash)]
        if (first && second) Object.assign(first, { ...second, tx_hash: first.tx_hash })
      },
    ],
    [
      'a header of another block',
      one => {
        const [first, second] = [proofOf(one, routed(one).tx_hash), proofOf(one, swept(one).tx_hash)]
        if (first?.proof && second?.proof) first.proof.header = second.proof.header
      },
    ],
    ['a receipt that was made up', one => eachProof(one, proof => Object.assign(proof, { receipt: proof.receipt.replace(/.$/, '0') }))],
    ['a node of the trie too many', one => eachProof(one, proof => Object.assign(proof, { nodes: [...proof.nodes, '0x80'] }))],
    ['no node of the trie', one => eachProof(one, proof => Object.assign(proof, { nodes: [] }))],
  ])('by %s is named', (_what, change) => expect(changed(change)).not.toEqual([]))
})

test('without a proof nothing is genuine by it: that is said row by row', () => {
  const one = dossier()
  for (const each of one.transactions) each.proof = null
  const checks = checkDossier(one)
  expect(failures(checks)).toEqual([])
  expect(checks.filter(({ what, ok }) => what.startsWith('entry') && ok === null)).toHaveLength(one.origins.length)
})

describe('the signature of a payout address', () => {
  const walletOf = (byte: string) => {
    const key = Buffer.from(byte.repeat(32), 'hex')
    const address = `0x${Buffer.from(keccak_256(secp256k1.getPublicKey(key, false).subarray(1)).subarray(12)).toString('hex')}`
    const sign = (message: string) => {
      const text = Buffer.from(message)
      const hash = keccak_256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${text.length}`), text]))
      const signature = secp256k1.sign(hash, key)
      return `0x${signature.toCompactHex()}${(27 + signature.recovery).toString(16)}`
    }
    return { address, sign }
  }
  const wallet = walletOf('42')
  const withProof = (message: string, key = wallet) => {
    const one = dossier()
    for (const origin of one.origins) origin.payout_address = wallet.address
    one.payout_addresses = [{ address: wallet.address, proof: { message, signature: key.sign(message) } }]
    return checkDossier(one).find(({ what }) => what.startsWith('payout'))
  }

  // The example of web3.js for `eth.accounts.sign`.
  test('is that of eth_sign, and no text or signature but these', () => {
    const value =
      '0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c'
    expect(signerOf('Some data', value)).toBe('0x2c7536e3605d9c16a7a3d7b1898e529396a65c23')
    expect(signerOf('Some date', value)).not.toBe('0x2c7536e3605d9c16a7a3d7b1898e529396a65c23')
    expect(() => signerOf('Some data', value.slice(0, -2))).toThrow('malformed')
    expect(() => signerOf('Some data', `0x${'0'.repeat(130)}`)).toThrow()
  })

  test('is of its key and names it and the merchant', () => {
    const { id } = dossier().merchant
    expect(withProof(`Pay merchant ${id} at ${wallet.address}, ação`)).toMatchObject({ ok: true })
    expect(withProof(`Pay merchant ${id} at ${wallet.address}`, walletOf('43'))).toMatchObject({ ok: false })
    expect(withProof(`Pay another merchant at ${wallet.address}`)).toMatchObject({ ok: false })
    expect(withProof(`Pay merchant ${id} elsewhere`)).toMatchObject({ ok: false })
  })
})
