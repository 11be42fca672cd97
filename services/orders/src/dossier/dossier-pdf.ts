import type { DossierOrigin, SignedDossier } from '@ponte/contracts'
import { type Block, type Font, type Mark, PAGE, pdf, widthOf, wrapped } from './pdf'
import type { DossierSigner } from './signing'

const { margin } = PAGE
const INNER = PAGE.width - 2 * margin
const RIGHT = PAGE.width - margin
const SMALL = 7.5
const LEAD = 1.3

/** For people: the dossier on A4, in Portuguese and English, and in it the signed JSON for `ponte verify-dossier`, in front of the table of objects. */
export function dossierPdf(signed: SignedDossier): AsyncGenerator<Buffer> {
  const { dossier } = signed
  const foot = (page: number) => `${dossier.merchant.name.slice(0, 60)} · ${dossier.id} · ${page}`
  const json = Buffer.from(JSON.stringify(signed)).toString('base64url')
  return pdf('Dossiê de origem / Origin dossier', blocksOf(signed), foot, Buffer.from(`ponte-dossier:${json}`))
}

/** The file: behind its end a line with the signature of every byte before that line. */
export async function signedPdf(signed: SignedDossier, signer: DossierSigner): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of dossierPdf(signed)) parts.push(part)
  const body = Buffer.concat(parts)
  return Buffer.concat([body, Buffer.from(`%ponte-signature:${signer.kid}.${signer.sign(body)}\n`)])
}

function* blocksOf({ dossier, signature }: SignedDossier): Generator<Block> {
  yield paragraph('Dossiê de origem · Origin dossier', 18, 'bold')
  yield paragraph(`${dossier.merchant.name} · ${dossier.installation}`, 11)
  yield gap(6)
  yield paragraph(
    'De onde vieram os USDC de uma retirada: cada valor que chegou ao endereço de recebimento da loja, com o pedido, o pagador e a transação na rede. ' +
      'É dado a uma corretora que pergunta pela origem (Resolução BCB nº 521, de 10 de novembro de 2025).',
  )
  yield paragraph(
    "Where the USDC of a withdrawal came from: each amount that reached the store's payout address, with its order, its payer and its transaction on the network. " +
      'For an exchange that asks for the origin (Resolution BCB 521 of 10 November 2025).',
  )
  yield gap(6)
  yield row('Dossiê / Dossier', dossier.id)
  yield row('Loja / Merchant', dossier.merchant.id)
  yield row('Data / Date', momentOf(dossier.created_at))
  yield row('Rede / Network', `${dossier.network} (chain id ${dossier.chain_id})`)
  yield row('USDC', dossier.token_address, 'mono')
  yield row('Regra / Rule', dossier.basis.rule)
  yield row('Origens / Origins', `${dossier.origins.length} · ledger sequence <= ${dossier.basis.through}`)
  yield row('Total', `${dossier.total_usdc} USDC`, 'bold')
  yield gap(8)
  yield paragraph('Endereços de recebimento · Payout addresses', 12, 'bold')
  for (const { address, from, to, proof } of dossier.payout_addresses) {
    yield paragraph(address, 9, 'mono')
    yield row('De / From', `${sinceOf(from)} – ${to === null ? 'hoje / today' : momentOf(to)}`)
    if (proof === null) yield row('Assinatura / Signature', 'nenhuma / none')
    else {
      yield row('Assinado em / Signed at', momentOf(proof.signed_at))
      for (const [index, line] of proof.message.split('\n').entries()) yield row(index === 0 ? 'Texto / Text (EIP-191)' : '', line, 'mono')
      yield row('Assinatura / Signature', proof.signature, 'mono')
    }
    yield gap(4)
  }
  yield paragraph('Como verificar · How to verify', 12, 'bold')
  yield paragraph(
    'O programa livre ponte verifica este arquivo sem acesso a nós: assinatura, provas dos recibos, somas. Com --rpc e qualquer nó da rede, também que os blocos são os da rede. Um byte trocado, e ele falha.',
  )
  yield paragraph(
    'The open program ponte verifies this file without access to us: signature, receipt proofs, sums. With --rpc and any node of the network, also that the blocks are those of the network. One byte changed, and it fails.',
  )
  yield paragraph(`npx @ponte/cli verify-dossier FILE.pdf --installation ${dossier.installation}`, 8, 'mono')
  yield row('Chave / Key (Ed25519)', signature.kid, 'mono')
  yield gap(8)
  yield paragraph('Origens · Origins', 12, 'bold')
  const provenHashes = new Map(dossier.transactions.map(one => [one.tx_hash, one]))
  for (const origin of dossier.origins) yield* originBlocks(origin, provenHashes)
  yield sides('Total', `${dossier.total_usdc} USDC`, 11)
}

type Transactions = ReadonlyMap<string, SignedDossier['dossier']['transactions'][number]>

/** An origin stays on one page; payers' transfers of a sweep may go on to the next. */
function* originBlocks(origin: DossierOrigin, transactions: Transactions): Generator<Block> {
  const { order, payments, kind } = origin
  const transaction = transactions.get(origin.tx_hash)
  const title = order?.external_ref ?? order?.id ?? 'sem pedido / no order'
  const brl = order ? `R$ ${order.brl_amount} · ` : ''
  const counted = origin.counted === origin.amount ? '' : ` (conta / counted ${origin.counted})`
  const lines: (readonly [text: string, font: Font])[] = []
  const add = (text: string, font: Font = 'plain') => {
    for (const line of wrapped(text, INNER, SMALL, font)) lines.push([line, font])
  }
  if (order?.description) add(order.description.slice(0, 300))
  if (order?.customer) add(`Cliente / Customer: ${[order.customer.name, order.customer.tax_id].filter(Boolean).join(' · ')}`)
  if (order?.fiscal_document) add(`${order.fiscal_document.kind} ${order.fiscal_document.key}`)
  const [payment] = payments
  if (kind !== 'sweep' && payment) add(`Pagador / Payer ${payment.payer_address ?? '–'}`, 'mono')
  add(
    `${momentOf(origin.at)} · ${kind} · taxa / fee ${origin.platform_fee} USDC · bloco / block ${transaction?.block_number ?? '–'}` +
      ` · prova do recibo / receipt proof: ${transaction?.proof ? 'sim / yes' : 'não / no'}`,
  )
  add(`tx ${origin.tx_hash}`, 'mono')
  if (transaction) add(`block ${transaction.block_hash}`, 'mono')
  const head = sides(`${origin.sequence}. ${title}`, `${brl}${origin.amount} USDC${counted}`, 9)
  const marks = lines.map(([text, font], index): Mark => ({ text, font, x: margin, y: head.height + index * SMALL * LEAD, size: SMALL }))
  const sent = kind === 'sweep' ? payments : []
  const height = head.height + lines.length * SMALL * LEAD + 6
  yield { height, marks: [...head.marks, ...marks], isRuled: sent.length === 0 }
  for (const [index, { payer_address, amount, tx_hash }] of sent.entries()) {
    const isLast = index === sent.length - 1
    const more = isLast && origin.more_payments > 0 ? `+ ${origin.more_payments} menores / smaller` : ''
    const block = transactions.get(tx_hash)
    const texts = [
      `Pagador / Payer ${payer_address ?? '–'} ${amount} USDC · bloco / block ${block?.block_number ?? '–'}`,
      `tx ${tx_hash}`,
      ...(block ? [`block ${block.block_hash}`] : []),
      ...(more ? [more] : []),
    ]
    const placed = texts.map((text, line): Mark => ({ text, font: 'mono', x: margin + 12, y: line * SMALL * LEAD, size: SMALL }))
    yield { height: texts.length * SMALL * LEAD + 6, marks: placed, isRuled: isLast }
  }
}

const gap = (height: number): Block => ({ height, marks: [] })

function paragraph(text: string, size = 9, font: Font = 'plain'): Block {
  const lines = wrapped(text, INNER, size, font)
  const marks = lines.map((line, index): Mark => ({ text: line, x: margin, y: index * size * LEAD, size, font }))
  return { height: lines.length * size * LEAD + 4, marks }
}

const LABEL = 130
function row(label: string, value: string, font: Font = 'plain'): Block {
  const size = font === 'mono' ? SMALL : 9
  const lines = wrapped(value, INNER - LABEL, size, font)
  const marks = lines.map((text, index): Mark => ({ text, x: margin + LABEL, y: index * size * LEAD, size, font }))
  return { height: Math.max(1, lines.length) * size * LEAD + 1, marks: [{ text: label, x: margin, y: 0, size: 8 }, ...marks] }
}

/** A text, cut where it would meet the other one at the right edge. */
function sides(left: string, right: string, size: number): Block {
  const rightWidth = widthOf(right, size, 'bold')
  const [first = ''] = wrapped(left, INNER - rightWidth - 12, size, 'bold')
  return {
    height: size * 1.4,
    marks: [
      { text: first, x: margin, y: 0, size, font: 'bold' },
      { text: right, x: RIGHT - rightWidth, y: 0, size, font: 'bold' },
    ],
  }
}

const momentOf = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`
/** The history of a merchant that is older than its record begins at no known time. */
const sinceOf = (iso: string): string => (iso.startsWith('1970-') ? '–' : momentOf(iso))
