import { invoices } from '../../../shop.js'

export const dynamic = 'force-dynamic'

export async function GET(_request, { params }) {
  const { number } = await params
  const invoice = invoices.get(number)
  return Response.json(invoice ?? { status: 'unknown' }, { status: invoice ? 200 : 404 })
}
