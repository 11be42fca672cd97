import { createServer } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

// Serves an example that speaks `fetch` on Node alone: a module with a default export, or the route handlers of a Next.js folder as its router finds them.

const [kind, folder] = process.argv.slice(2)
const load = async path => import(pathToFileURL(join(folder, path)).href)

async function nextRouter() {
  const routes = {
    webhooks: await load('app/webhooks/route.js'),
    buy: await load('app/buy/[number]/route.js'),
    invoices: await load('app/invoices/[number]/route.js'),
  }
  return request => {
    const [, room = '', number] = new URL(request.url).pathname.split('/')
    const handler = routes[room]?.[request.method]
    return handler ? handler(request, { params: Promise.resolve({ number }) }) : new Response('', { status: 404 })
  }
}

const handle = kind === 'next' ? await nextRouter() : (await load('shop.js')).default.fetch

createServer(async (incoming, outgoing) => {
  const chunks = []
  for await (const chunk of incoming) chunks.push(chunk)
  const { method, headers } = incoming
  const init = { method, headers, ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}) }
  const answer = await handle(new Request(`http://${headers.host}${incoming.url}`, init))
  outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
}).listen(Number(process.env.PORT), '127.0.0.1')
