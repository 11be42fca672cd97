import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { ApiError, EXPORT_TYPES, EXPORTS_OPEN_MAX, type MerchantTerms, operations, userIdOf } from '@ponte/contracts'
import { addLogFields, answersTo, isGone, serve, serveOnce, uuidv7At } from '@ponte/service-kit'
import type { Router } from 'express'
import type { Dossiers } from '../dossier/dossiers'
import { exportBody, fileNameOf, isDossier, type LedgerExport, openExport } from '../ledger/export'
import type { Place } from '../order/body'
import type { Store } from '../store'

const decompress = promisify(gunzip)

export interface ExportRouteDeps {
  store: Pick<Store, 'ledger' | 'exports'>
  database: Parameters<typeof serveOnce>[2]
  place: Pick<Place, 'publicUrl'>
  now: () => Date
  dossiers: Pick<Dossiers, 'ask'>
  exportAsked: () => void
}

export function exportRoutes(router: Router, { store, database, place, now, dossiers, exportAsked }: ExportRouteDeps): void {
  const exportOf = async (id: string, terms: MerchantTerms): Promise<LedgerExport> => {
    const found = await store.exports.find(terms.merchant_id, id, now())
    if (!found) throw new ApiError('not_found', `There is no export ${id}, or it has expired.`)
    return found
  }

  serveOnce(router, operations.createExport, database, async ({ body, caller: by, terms, keyed }) => {
    const merchantId = terms.merchant_id
    const through = await store.ledger.newest(merchantId)
    const dossier = isDossier(body.format) ? await dossiers.ask(body, terms, through) : null
    const asked = { id: uuidv7At(now()), merchantId, through, requestedBy: userIdOf(by), dossier }
    const one = openExport(asked, body, now())
    addLogFields({ export_id: one.id })
    const answer = { status: 201, body: JSON.stringify(exportBody(one, place.publicUrl)) }
    if (!(await store.exports.insert(one, answersTo(keyed, answer))))
      throw new ApiError('invalid_state', `${EXPORTS_OPEN_MAX} files of yours are being made: wait until one is ready.`)
    exportAsked()
    return answer
  })

  serve(router, operations.listExports, async ({ terms }, _req, res) => {
    const found = await store.exports.list(terms.merchant_id, now())
    res.json({ object: 'list', data: found.map(one => exportBody(one, place.publicUrl)), has_more: false })
  })

  serve(
    router,
    operations.getExport,
    async ({ params, terms }, _req, res) => void res.json(exportBody(await exportOf(params.id, terms), place.publicUrl)),
  )

  serve(router, operations.downloadExport, async ({ params, terms }, req, res) => {
    const found = await exportOf(params.id, terms)
    if (found.status !== 'ready') throw new ApiError('invalid_state', `The file is not ready: it is ${found.status}.`)
    res.setHeader('Content-Type', EXPORT_TYPES[found.format])
    res.setHeader('Content-Disposition', `attachment; filename="${fileNameOf(found)}"`)
    res.setHeader('Content-Length', String(found.size))
    if (req.method === 'HEAD') return void res.end()
    await pipeline(bytesOf(store.exports, found), res).catch(error => {
      if (!isGone(error)) throw error
    })
  })
}

async function* bytesOf(exports: Store['exports'], found: LedgerExport): AsyncGenerator<Buffer> {
  let size = 0
  for await (const part of exports.parts(found)) {
    const bytes = found.format === 'xlsx' ? part : await decompress(part)
    size += bytes.length
    yield bytes
  }
  if (size !== found.size) throw new Error(`Export ${found.id} has lost parts: it has expired meanwhile.`)
}
