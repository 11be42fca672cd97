import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { verifyDossier } from '../src/dossier'
import type { Dossier } from '../src/dossier/verify'
import { createOutput } from '../src/output'
import { MisuseError } from '../src/profile'

const file = join(__dirname, 'recorded/dossier.signed')
const keys = join(__dirname, 'recorded/keys.json')
const dossier: Dossier = JSON.parse(readFileSync(file, 'utf8')).dossier
const [first] = dossier.transactions
const OTHER = `0x${'11'.repeat(32)}`

interface Lie {
  chainId?: number
  hashOf?: (block: number) => string | undefined
  placeOf?: (hash: string) => { blockHash: string; transactionIndex: string } | null
}

/** A node that has the blocks of the recorded dossier, and what a test changes; it serves its keys, too. */
async function withNode<T>(lie: Lie, work: (url: string) => Promise<T>): Promise<T> {
  const server: Server = createServer(async (req, res) => {
    if (req.url === '/api/v1/dossier-keys') return void res.end(readFileSync(keys))
    let text = ''
    for await (const chunk of req) text += chunk
    const { method, params } = JSON.parse(text)
    const result = {
      eth_chainId: () => `0x${(lie.chainId ?? dossier.chain_id).toString(16)}`,
      eth_getBlockByNumber: () => {
        const number = Number(params[0])
        const hash = lie.hashOf?.(number) ?? dossier.transactions.find(one => one.block_number === number)?.block_hash
        return hash === undefined || hash === 'none' ? null : { number: params[0], hash }
      },
      eth_getTransactionReceipt: () => {
        const one = dossier.transactions.find(({ tx_hash }) => tx_hash === params[0])
        const place = one && { blockHash: one.block_hash, transactionIndex: `0x${(one.proof?.receipt_index ?? 0).toString(16)}` }
        return lie.placeOf ? lie.placeOf(params[0]) : (place ?? null)
      },
    }[method as 'eth_chainId']()
    res.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.close()
  }
}

async function run(options: Parameters<typeof verifyDossier>[1], path = file) {
  const chunks: string[] = []
  const sink = { write: (chunk: string) => void chunks.push(chunk) }
  const failed = await verifyDossier(path, options, createOutput({ json: false, colour: false, stdout: sink, stderr: sink }))
  return { failed, text: chunks.join('') }
}

test('offline, by keys from a file or from the installation', async () => {
  expect(await run({ keys })).toMatchObject({ failed: 0, text: expect.stringContaining('The dossier is genuine.') })
  await withNode({}, async url => expect(await run({ installation: url })).toMatchObject({ failed: 0 }))
})

test('a node that has the blocks agrees', async () => {
  await withNode({}, async url =>
    expect(await run({ keys, rpc: [url] })).toMatchObject({ failed: 0, text: expect.stringContaining('ok          node') }),
  )
})

test.each<[string, Lie, string]>([
  ['another block at that height', { hashOf: number => (number === first?.block_number ? OTHER : undefined) }, `is ${OTHER} there`],
  ['the transaction in another block', { placeOf: () => ({ blockHash: OTHER, transactionIndex: '0x0' }) }, 'stands elsewhere there'],
  [
    'the transaction at another place',
    { placeOf: () => ({ blockHash: first?.block_hash ?? '', transactionIndex: '0x63' }) },
    'stands elsewhere there',
  ],
  ['no such transaction', { placeOf: () => null }, 'stands elsewhere there'],
  ['another chain', { chainId: 1 }, 'it is of chain 1'],
])('a node that has %s fails it', async (_what, lie, detail) => {
  await withNode(lie, async url => {
    const { failed, text } = await run({ keys, rpc: [url] })
    expect([failed > 0, text]).toEqual([true, expect.stringContaining(detail)])
  })
})

test('a node that does not answer, or has no such block yet, is no verdict, and another one that disagrees is', async () => {
  const AWAY = 'http://127.0.0.1:9'
  const asked = (rpc: string[]) => run({ keys, rpc }).catch((error: unknown) => error)
  await withNode({}, async url => {
    const undecided = await asked([url, AWAY])
    expect(undecided).toBeInstanceOf(MisuseError)
    expect(String(undecided)).toMatch(/127\.0\.0\.1:9 .*name another node with --rpc/)
  })
  await withNode({ hashOf: () => 'none' }, async url => expect(String(await asked([url]))).toContain('name another node'))
  await withNode({ placeOf: () => null }, async url => {
    const { failed, text } = await run({ keys, rpc: [AWAY, url] })
    expect([failed > 0, text]).toEqual([true, expect.stringMatching(/not checked +node 127\.0\.0\.1:9/)])
  })
})

test('without keys nothing is verified, and that is no verdict', async () => {
  for (const options of [{}, { keys, installation: 'http://127.0.0.1:9' }, { keys: join(__dirname, 'none.json') }, { keys: file }])
    await expect(run(options)).rejects.toThrow(MisuseError)
  await expect(run({ keys }, join(__dirname, 'none'))).rejects.toThrow(MisuseError)
})
