import { computeAddress, getBytes, recoverAddress, Signature } from 'ethers'
import { parseDerPublicKey, parseDerSignature } from './der-signature'
import type { Signer } from './signer'

export interface KmsOptions {
  /** Id, ARN or alias of an asymmetric key `ECC_SECG_P256K1` for signing. */
  keyId: string
  region: string | undefined
  /** Another address of the API; AWS's own without it. */
  endpoint: string | undefined
}

const DEADLINE_MS = 5_000

/** Signs with a key that never leaves AWS KMS. Credentials come from where the AWS SDK looks for them: environment, web identity, the machine's role. */
export function kmsSigner({ keyId, region, endpoint }: KmsOptions): Signer {
  let known: Promise<string> | undefined
  // Loaded when it is used: a service that holds its own key does without it.
  const sdk = import('@aws-sdk/client-kms')
  const client = sdk.then(
    ({ KMSClient }) => new KMSClient({ ...(region === undefined ? {} : { region }), ...(endpoint === undefined ? {} : { endpoint }) }),
  )
  const readAddress = async () => {
    const { GetPublicKeyCommand } = await sdk
    const answer = await (await client).send(new GetPublicKeyCommand({ KeyId: keyId }), { abortSignal: AbortSignal.timeout(DEADLINE_MS) })
    if (!answer.PublicKey || answer.KeyUsage !== 'SIGN_VERIFY') throw new Error('The KMS key is not one that signs.')
    return computeAddress(parseDerPublicKey(answer.PublicKey))
  }
  const address = async () => {
    known ??= readAddress().catch(error => {
      known = undefined
      throw error
    })
    return known
  }
  return {
    address,
    async sign(digest) {
      const { SignCommand } = await sdk
      const command = new SignCommand({
        KeyId: keyId,
        Message: getBytes(digest),
        MessageType: 'DIGEST',
        SigningAlgorithm: 'ECDSA_SHA_256',
      })
      const answer = await (await client).send(command, { abortSignal: AbortSignal.timeout(DEADLINE_MS) })
      if (!answer.Signature) throw new Error('KMS answered without a signature.')
      const { r, s } = parseDerSignature(answer.Signature)
      return withParity(digest, { r: word(r), s: word(s) }, await address())
    },
  }
}

/** KMS does not name which of two points it means: the one whose key is ours. */
function withParity(digest: string, signature: { r: string; s: string }, address: string): Signature {
  for (const yParity of [0, 1] as const) {
    const one = Signature.from({ ...signature, yParity })
    if (recoverAddress(digest, one) === address) return one
  }
  throw new Error('The signature that KMS gave is not by the key that it named.')
}

const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
