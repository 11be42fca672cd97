import { readFileSync } from 'node:fs'
import { type Node, openNode } from '../audit/node'
import { type Output, table } from '../output'
import { MisuseError } from '../profile'
import { type DossierKeyring, keyringOf, openSigned } from './file'
import { type Check, checkDossier, type Dossier } from './verify'

export interface VerifyDossierOptions {
  rpc?: string[]
  keys?: string
  installation?: string
}

const TIMEOUT_MS = 20_000
const AT_ONCE = 10

/** Left open by a node that is away, or behind: neither true nor false. */
interface Unchecked extends Check {
  ok: null
  isUnchecked: true
}
const isUnchecked = (check: Check): check is Unchecked => 'isUnchecked' in check

/** Verifies an origin dossier; answers how many checks failed. Throws MisuseError where none did and a node could not be asked. */
export async function verifyDossier(path: string, options: VerifyDossierOptions, output: Output): Promise<number> {
  const keys = await readKeys(options)
  const bytes = readIn(path)
  const opened = tryTo(() => openSigned(bytes, keys))
  const signature: Check = opened.ok
    ? { what: 'signature', ok: true, detail: `every byte of the ${opened.value.form.toUpperCase()}, by the key ${opened.value.kid}` }
    : { what: 'signature', ok: false, detail: opened.detail }
  // Nothing else in it counts when it is not the installation's.
  const dossier = opened.ok ? (opened.value.dossier as Dossier) : null
  const offline = dossier ? tryTo(() => checkDossier(dossier)) : null
  const checks = [signature, ...(offline?.ok ? offline.value : offline ? [{ what: 'form', ok: false, detail: offline.detail }] : [])]
  if (dossier && offline?.ok) for (const url of options.rpc ?? []) checks.push(...(await checkNode(dossier, url)))
  show(checks, dossier, output)
  const failed = checks.filter(({ ok }) => ok === false).length
  const [open] = checks.filter(isUnchecked)
  if (failed === 0 && open)
    throw new MisuseError(
      `${open.what} could not be asked (${open.detail}): ask again later, or name another node with --rpc. Nothing else is false.`,
    )
  return failed
}

function tryTo<T>(work: () => T): { ok: true; value: T } | { ok: false; detail: string } {
  try {
    return { ok: true, value: work() }
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) }
  }
}

function readIn(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new MisuseError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The key is never taken from the file: anyone can sign with a key of their own. */
async function readKeys({ keys, installation }: VerifyDossierOptions): Promise<DossierKeyring> {
  if ((keys === undefined) === (installation === undefined))
    throw new MisuseError('Name the keys of the installation: --keys FILE, or --installation URL')
  const text = keys !== undefined ? Buffer.from(readIn(keys)).toString() : await fetchKeys(installation ?? '')
  const found = tryTo(() => keyringOf(text))
  if (!found.ok || found.value.size === 0) throw new MisuseError(`There is no Ed25519 key in ${keys ?? installation}.`)
  return found.value
}

async function fetchKeys(installation: string): Promise<string> {
  if (!/^https?:\/\//.test(installation) || !URL.canParse(installation)) throw new MisuseError('--installation is an http(s) URL.')
  const answer = await fetch(`${installation.replace(/\/+$/, '')}/api/v1/dossier-keys`, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    (error: unknown) => {
      throw new MisuseError(`${installation} does not answer: ${error instanceof Error ? error.message : String(error)}`)
    },
  )
  if (!answer.ok) throw new MisuseError(`${installation} answers with HTTP ${answer.status}.`)
  return answer.text()
}

/** Whether the node has the dossier's blocks in its chain, and its transactions in them. */
async function checkNode({ chain_id, transactions }: Dossier, url: string): Promise<Check[]> {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new MisuseError('--rpc is the http(s) URL of a node.')
  const node: Node = openNode(url)
  const what = `node ${new URL(url).host}`
  const failed = (detail: string): Check => ({ what, ok: false, detail })
  const unchecked = (detail: string): Unchecked => ({ what, ok: null, detail, isUnchecked: true })
  const wrong: Check[] = []
  try {
    const chainId = await node.chainId()
    if (chainId !== chain_id) return [failed(`it is of chain ${chainId}, and the dossier of chain ${chain_id}`)]
    for (let first = 0; first < transactions.length; first += AT_ONCE)
      await Promise.all(
        transactions.slice(first, first + AT_ONCE).map(async ({ tx_hash, block_number, block_hash, proof }) => {
          const [block, place] = [await node.block(block_number), await node.placeOf(tx_hash)]
          if (!block) wrong.push(unchecked(`it has no block ${block_number} yet`))
          else if (block.hash !== block_hash)
            wrong.push(failed(`block ${block_number} is ${block.hash} there, and ${block_hash} in the dossier`))
          else if (place?.blockHash !== block_hash || (proof && place.index !== proof.receipt_index))
            wrong.push(failed(`${tx_hash} stands elsewhere there`))
        }),
      )
    if (wrong.length > 0) return wrong
    return [{ what, ok: true, detail: `it has ${transactions.length} transactions in these blocks` }]
  } catch (error) {
    return [...wrong, unchecked(error instanceof Error ? error.message : String(error))]
  }
}

function show(checks: readonly Check[], dossier: Dossier | null, output: Output): void {
  const words = (check: Check) => (isUnchecked(check) ? 'not checked' : check.ok === null ? 'not proven' : check.ok ? 'ok' : 'FAILED')
  const failed = checks.filter(({ ok }) => ok === false).length
  const unchecked = checks.filter(isUnchecked).length
  const open = checks.filter(({ ok }) => ok === null).length - unchecked
  const lines = [
    ...(dossier
      ? [
          `${dossier.total_usdc} USDC (${dossier.token_address}) on ${dossier.network}, chain ${dossier.chain_id}; ${dossier.merchant.name}, by ${dossier.installation}`,
        ]
      : []),
    table(checks.map(check => [words(check), check.what, check.detail])),
    failed > 0
      ? `${failed} of ${checks.length} checks failed.`
      : unchecked > 0
        ? 'By itself the dossier is genuine, and not all of it could be checked.'
        : `The dossier is genuine.${open > 0 ? ` ${open} of its statements have no proof.` : ''}`,
  ]
  const found = checks.map(({ what, ok, detail }) => ({ check: what, ok, detail }))
  output.show(
    {
      is_genuine: failed > 0 ? false : unchecked > 0 ? null : true,
      dossier_id: dossier?.id ?? null,
      total_usdc: dossier?.total_usdc ?? null,
      checks: found,
    },
    lines.join('\n'),
  )
}
