import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnTied } from '../../packages/local-servers/src/tied-process.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const stamps = join(root, 'node_modules/.cache/ponte')
const atATime = 2

/** Its message names what failed and what to do about it. */
export class StepError extends Error {
  name = 'StepError'
}

/** For scripts: the message of a step is enough, anything else is a fault of ours and shows its stack. */
export function fail(error) {
  console.error(error instanceof StepError ? `\n${error.message}` : error)
  process.exit(1)
}

/** Runs the tasks whose inputs changed since they last succeeded, or whose outputs are gone. */
export async function bringUpToDate(title, tasks) {
  const due = tasks.map(task => ({ ...task, digest: digestOf(task.inputs) })).filter(task => !isCurrent(task))
  if (due.length === 0) return
  const progress = showProgress(title)
  try {
    await Promise.all(Array.from({ length: atATime }, () => work(due, progress)))
  } catch (error) {
    progress.end('✗')
    throw error
  }
  progress.end('✓')
}

async function work(due, progress) {
  for (let task = due.shift(); task; task = due.shift()) {
    const stamp = join(stamps, task.name)
    rmSync(stamp, { force: true })
    const { code, output } = await run(task, progress.line)
    if (code !== 0) {
      due.length = 0
      throw new StepError(`${output.trim().split('\n').slice(-30).join('\n')}\n\n${task.advice}`)
    }
    mkdirSync(stamps, { recursive: true })
    writeFileSync(stamp, task.digest)
  }
}

/** Runs a command to its end, out of Ctrl-C's sight but never outliving us; reports each line as it comes. */
export function run({ command: [program, ...args], folder = '.', env }, onLine = () => undefined) {
  return new Promise((done, reject) => {
    const child = spawnTied(program, args, { cwd: resolve(root, folder), env: { ...process.env, ...env }, endSignal: 'KILL', group: true })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', text => {
        output += text
        onLine(text.trim().split('\n').at(-1))
      })
    }
    child.once('error', reject)
    child.once('close', code => done({ code, output }))
  })
}

/** Whether the task of this name ever succeeded, on inputs of whatever age. */
export const hasSucceeded = name => existsSync(join(stamps, name))

function isCurrent({ name, digest, outputs }) {
  const stamp = join(stamps, name)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === digest && outputs.every(output => existsSync(join(root, output)))
}

function digestOf(inputs) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${process.version}`)
  for (const input of inputs) {
    const path = join(root, input)
    hash.update(`\0${input}\0`).update(existsSync(path) ? readFileSync(path) : 'absent')
  }
  return hash.digest('hex')
}

// One line per step; on a terminal it moves while the step does. Written to stderr: the output of a script is its own.
function showProgress(title) {
  const started = Date.now()
  const seconds = () => `${((Date.now() - started) / 1000).toFixed(1)} s`
  let latest = ''
  const draw = () => {
    const text = `  ${title} … ${seconds()}  ${latest}`
    process.stderr.write(`\r\x1b[2K${text.slice(0, process.stderr.columns - 1)}`)
  }
  const { isTTY } = process.stderr
  if (!isTTY) console.error(`  ${title} …`)
  const timer = isTTY && setInterval(draw, 200)
  return {
    line: text => {
      latest = text ?? ''
    },
    end: mark => {
      clearInterval(timer)
      process.stderr.write(`${isTTY ? '\r\x1b[2K' : ''}${mark} ${title}  ${seconds()}\n`)
    },
  }
}
