import { json } from 'node:stream/consumers'
import { startHttpServer } from '@ponte/local-servers'
import { id as hashOf, hexlify, SigningKey, Wallet } from 'ethers'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

interface Asked {
  KeyId: string
  Message?: string
  MessageType?: string
  SigningAlgorithm?: string
}

/**
 * A stand-in for AWS KMS on loopback, as far as a signer needs it: GetPublicKey and Sign over its JSON protocol, with keys of its own. It signs what it
 * is asked to, with s in either half, as KMS does.
 */
export async function startKms() {
  const keys = new Map<string, SigningKey>()
  const asked: { operation: string; keyId: string; authorization: string }[] = []
  let fault: { status: number; type: string } | undefined
  const answer = (operation: string, body: Asked) => {
    const key = keys.get(body.KeyId)
    if (!key) return { status: 400, body: { __type: 'NotFoundException', message: `Key '${body.KeyId}' does not exist` } }
    if (operation === 'GetPublicKey') {
      const der = Buffer.from(`3056301006072a8648ce3d020106052b8104000a034200${key.publicKey.slice(2)}`, 'hex').toString('base64')
      return { status: 200, body: { KeyId: body.KeyId, KeySpec: 'ECC_SECG_P256K1', KeyUsage: 'SIGN_VERIFY', PublicKey: der } }
    }
    const digest = Buffer.from(body.Message ?? '', 'base64')
    if (operation !== 'Sign' || body.MessageType !== 'DIGEST' || body.SigningAlgorithm !== 'ECDSA_SHA_256' || digest.length !== 32)
      return { status: 400, body: { __type: 'ValidationException', message: 'not a digest to sign' } }
    return { status: 200, body: { KeyId: body.KeyId, Signature: toDer(key, hexlify(digest), asked.length % 2 === 0).toString('base64') } }
  }
  const server = await startHttpServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).replace('TrentService.', '')
    const body = (await json(request)) as Asked
    asked.push({ operation, keyId: body.KeyId, authorization: String(request.headers.authorization) })
    const { status, body: result } = fault
      ? { status: fault.status, body: { __type: fault.type, message: 'a fault' } }
      : answer(operation, body)
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(result))
  })
  return {
    url: server.url,
    asked,
    /** Makes a key and answers its id. */
    createKey(): string {
      const key = new SigningKey(Wallet.createRandom().privateKey)
      const id = hashOf(key.publicKey).slice(2, 34)
      keys.set(id, key)
      return id
    },
    /** Answers everything with this fault; with nothing, as it should. */
    fail(next?: { status: number; type: string }) {
      fault = next
    },
    stop: server.stop,
  }
}

/** A signature as KMS gives it: r and s in DER, without the parity, and s in the half that `upper` chooses. */
function toDer(key: SigningKey, digest: string, upper: boolean): Buffer {
  const signature = key.sign(digest)
  const [r, low] = [BigInt(signature.r), BigInt(signature.s)]
  const integer = (value: bigint) => {
    const hex = value.toString(16)
    const even = hex.length % 2 === 0 ? hex : `0${hex}`
    const bytes = Buffer.from(Number.parseInt(even.slice(0, 2), 16) >= 0x80 ? `00${even}` : even, 'hex')
    return Buffer.concat([Buffer.from([0x02, bytes.length]), bytes])
  }
  const body = Buffer.concat([integer(r), integer(upper ? ORDER - low : low)])
  return Buffer.concat([Buffer.from([0x30, body.length]), body])
}
