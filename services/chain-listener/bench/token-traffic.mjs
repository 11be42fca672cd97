import { createHash } from 'node:crypto'
import { createServer } from 'node:http'

// A node of a chain with as many transfers of one token in each block as Ethereum has of USDC, made up on demand: nothing is kept but the head's
// number, so that ten thousand blocks cost no disk. POST /head sets the head. Started by scan.ts with its settings as JSON.
const { chainId, token, bloom, transferTopic, perBlock, oursEvery, ours } = JSON.parse(process.argv[2] ?? '{}')

let head = 0
const hex = number => `0x${number.toString(16)}`
const hashOf = text => `0x${createHash('sha256').update(text).digest('hex')}`
const blockHash = number => hashOf(`block ${number}`)
const word = address => `0x${'0'.repeat(24)}${address.slice(2)}`

function blockOf(number) {
  if (number < 0 || number > head) return null
  const hash = blockHash(number)
  return { number: hex(number), hash, parentHash: blockHash(number - 1), timestamp: hex(1_700_000_000 + number * 12), logsBloom: bloom }
}

/** Recipients differ from block to block; one in every `oursEvery` blocks is an address of ours. */
function logsOf(number) {
  const seed = createHash('sha256').update(`transfers ${number}`).digest('hex')
  const [blockHashText, blockNumber, blockTimestamp] = [blockHash(number), hex(number), hex(1_700_000_000 + number * 12)]
  return Array.from({ length: perBlock }, (_, index) => {
    const digits = createHash('md5').update(`${seed}${index}`).digest('hex')
    const isOurs = index === 0 && ours.length > 0 && number % oursEvery === 0
    const to = isOurs ? ours[(number / oursEvery) % ours.length] : `0x${digits}${seed.slice(0, 8)}`
    return {
      address: token,
      topics: [transferTopic, word(`0x${seed.slice(0, 8)}${digits}`), word(to)],
      data: `0x${'0'.repeat(56)}${digits.slice(0, 8)}`,
      blockHash: blockHashText,
      blockNumber,
      blockTimestamp,
      transactionHash: `0x${digits}${seed.slice(0, 32)}`,
      transactionIndex: hex(index),
      logIndex: hex(index),
      removed: false,
    }
  })
}

function getLogs({ fromBlock, toBlock, blockHash: hash, topics, address }) {
  if (address !== token) return []
  const [from, to] = hash === undefined ? [Number(fromBlock), Number(toBlock)] : [known.get(hash), known.get(hash)]
  const recipients = topics[2] === undefined ? undefined : new Set([topics[2]].flat())
  const logs = []
  for (let number = from; number <= to; number++)
    for (const log of logsOf(number)) if (!recipients || recipients.has(log.topics[2])) logs.push(log)
  return logs
}

const known = new Map()

function answer({ method, params }) {
  if (method === 'eth_chainId') return hex(chainId)
  if (method === 'eth_getLogs') return getLogs(params[0])
  if (method === 'eth_call') return `0x${'00'.repeat(16 * ((params[0].data.length - 2 - 2 * 97) / 40))}`
  const block = blockOf(params[0] === 'latest' ? head : Number(params[0]))
  if (block) known.set(block.hash, Number(block.number))
  if (known.size > 50_000) known.clear()
  return block
}

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  if (request.url === '/head') {
    head = Number(body)
    response.end()
    return
  }
  const asked = JSON.parse(body)
  const answers = [asked].flat().map(call => ({ jsonrpc: '2.0', id: call.id, result: answer(call) }))
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]))
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.on('disconnect', () => process.exit())
