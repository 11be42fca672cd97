import { findChromium, type LocalChain } from '@ponte/local-servers'
import axe from 'axe-core'
import type { TypedDataDomain, TypedDataField } from 'ethers'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page, type Response } from 'playwright-core'
import { openApiValidator } from '../../world'
import { answerCalls, CallsError, type WalletCalls } from './wallet-calls'

export const PHONE = { width: 390, height: 844 }
export const DESKTOP = { width: 1280, height: 860 }

/** A real Chromium. Its path is asked for at run time, since tests of the pages alone may install it. */
export async function openBrowser(more: { args?: string[]; env?: Record<string, string> } = {}): Promise<Browser> {
  const executablePath = await findChromium()
  const args = ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run']
  return chromium.launch({ executablePath, args: [...args, ...(more.args ?? [])], env: { ...process.env, ...more.env } })
}

export interface Visit extends BrowserContextOptions {
  language?: 'pt-BR' | 'en-US'
}

/**
 * A visitor of his own: cookies, storage and language. What the pages complain about (a blocked script, a fault) is collected, and so is an
 * answer of the gateway that is not what its OpenAPI document states.
 */
export async function openVisit(browser: Browser, { language = 'en-US', ...options }: Visit = {}) {
  const context = await browser.newContext({ viewport: DESKTOP, locale: language, reducedMotion: 'reduce', ...options })
  const complaints: string[] = []
  const strangers: string[] = []
  context.on('console', message => {
    // Chromium reports every answer of 400 and above; the pages show those.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complaints.push(message.text())
  })
  context.on('weberror', error => complaints.push(String(error.error())))
  context.on('response', response => {
    // An answer that its page did not wait for cannot be read.
    documentFaults(response).then(
      faults => complaints.push(...faults),
      () => undefined,
    )
  })
  context.on('request', request => {
    if (!/^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url())) strangers.push(request.url())
  })
  return { context, complaints, strangers, page: await context.newPage() }
}

async function documentFaults(response: Response): Promise<string[]> {
  const { origin, pathname, search } = new URL(response.url())
  const type = (await response.headerValue('content-type')) ?? ''
  if (!pathname.startsWith('/api/') || type.startsWith('text/event-stream')) return []
  // The test gave this answer in the gateway's place.
  if ((await response.serverAddr()) === null) return []
  const headers = new Headers({ 'content-type': type })
  const requestId = await response.headerValue('x-request-id')
  if (requestId !== null) headers.set('x-request-id', requestId)
  const answered = { method: response.request().method(), path: `${pathname}${search}`, status: response.status(), headers }
  return (await openApiValidator(origin))({ ...answered, text: await response.text() })
}

interface Call {
  method: string
  params?: unknown[]
}
type Answer = { result: unknown } | { error: { code: number; message: string } }

export interface InjectedWallet {
  /** Refuses the next request of this method as a person would. */
  refuse(method: string): void
  /** Leaves requests of this method unanswered until the returned function is called. */
  hold(method: string): () => void
  /** Methods asked for, oldest first. */
  asked: string[]
  /** Methods that this wallet has not, and selectors of contract calls that its network does not answer. */
  lacks: Set<string>
  /** Where it is, whether it knows of the network, and whether it goes there when asked. */
  network: { chainId: number; known: boolean; goes: boolean }
  /** Its account of the local chains, or a private key. */
  account: number | string
  /** The gas of its transactions when it does not ask the network how much they need. */
  gasLimit: number | null
  /** Its taking several calls at once; without, it knows no such method. */
  calls: WalletCalls | null
  /** Whether it lists its account's USDC on every network (ERC-7811). */
  listsAssets: boolean
}

/** A small EIP-1193 wallet in every page of the context, with an account of the local chains behind it. It begins on another network. */
export async function injectWallet(
  context: BrowserContext,
  chain: LocalChain,
  account: number | string,
  others: readonly LocalChain[] = [],
): Promise<InjectedWallet> {
  const chains = [chain, ...others]
  const refused = new Set<string>()
  const held = new Map<string, Promise<void>>()
  const asked: string[] = []
  const wallet: Pick<InjectedWallet, 'lacks' | 'network' | 'account' | 'gasLimit' | 'calls' | 'listsAssets'> = {
    account,
    lacks: new Set(),
    network: { chainId: 1, known: true, goes: true },
    gasLimit: null,
    calls: null,
    listsAssets: false,
  }
  const answer = async ({ method, params = [] }: Call): Promise<unknown> => {
    const here = chains.find(({ chainId }) => chainId === wallet.network.chainId) ?? chain
    const signer = here.wallet(wallet.account)
    const named = Number(Reflect.get(Object(params[0]), 'chainId'))
    if (wallet.lacks.has(method)) throw new WalletError(4200, 'The wallet has no such method.')
    if (method === 'eth_requestAccounts' || method === 'eth_accounts') return [signer.address]
    if (method === 'eth_chainId') return `0x${wallet.network.chainId.toString(16)}`
    if (method === 'wallet_addEthereumChain') {
      wallet.network.known = chains.some(({ chainId }) => chainId === named)
      return null
    }
    if (method === 'wallet_switchEthereumChain') {
      if (!wallet.network.known) throw new WalletError(4902, 'Unrecognized chain ID.')
      if (wallet.network.goes) wallet.network.chainId = named
      return null
    }
    if (method === 'eth_call' && wallet.lacks.has(String(Reflect.get(Object(params[0]), 'data')).slice(0, 10)))
      throw new WalletError(3, 'execution reverted')
    if (method === 'eth_sendTransaction') {
      const [transaction] = params as [{ to: string; data: string }]
      const gas = wallet.gasLimit === null ? {} : { gasLimit: wallet.gasLimit }
      return (await signer.sendTransaction({ to: transaction.to, data: transaction.data, ...gas })).hash
    }
    if (/^wallet_(getCapabilities|sendCalls|getCallsStatus)$/.test(method)) {
      if (wallet.calls === null) throw new WalletError(-32601, 'The method does not exist.')
      return answerCalls(wallet.calls, { account: wallet.account, gasLimit: wallet.gasLimit, chains }, method, params)
    }
    if (method === 'wallet_getAssets') {
      if (!wallet.listsAssets) throw new WalletError(-32601, 'The method does not exist.')
      return Object.fromEntries(await Promise.all(chains.map(each => assetsOn(each, signer.address))))
    }
    if (method === 'eth_signTypedData_v4') return sign(signer, String(params[1]))
    return here.provider.send(method, params)
  }
  await context.exposeBinding('ponteTestWallet', async (_source, call: Call): Promise<Answer> => {
    asked.push(call.method)
    await held.get(call.method)
    if (refused.delete(call.method)) return { error: { code: 4001, message: 'User rejected the request.' } }
    try {
      return { result: await answer(call) }
    } catch (error) {
      const code = error instanceof WalletError || error instanceof CallsError ? error.code : -32000
      return { error: { code, message: error instanceof Error ? error.message : String(error) } }
    }
  })
  await context.addInitScript(provideWallet)
  return Object.assign(wallet, {
    asked,
    refuse: (method: string) => void refused.add(method),
    hold(method: string) {
      let release: () => void = () => undefined
      held.set(method, new Promise(resolve => (release = resolve)))
      return () => release()
    },
  })
}

const assetsOn = async (chain: LocalChain, account: string) => {
  const balance = `0x${(await chain.balanceOf(account)).toString(16)}`
  const others = { address: 'native', balance: '0x1', type: 'native', metadata: null }
  return [`0x${chain.chainId.toString(16)}`, [others, { address: chain.usdcAddress, balance, type: 'erc20', metadata: null }]]
}

class WalletError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

function sign(
  signer: { signTypedData(domain: TypedDataDomain, types: Record<string, TypedDataField[]>, message: object): Promise<string> },
  text: string,
) {
  const { domain, types, message } = JSON.parse(text) as {
    domain: TypedDataDomain
    types: Record<string, TypedDataField[]>
    message: Record<string, unknown>
  }
  const { EIP712Domain: _, ...own } = types
  return signer.signTypedData(domain, own, message)
}

// Runs in the page.
function provideWallet(): void {
  const request = async (call: unknown) => {
    const answer = await Reflect.get(globalThis, 'ponteTestWallet')(call)
    if (!answer.error) return answer.result
    throw Object.assign(new Error(answer.error.message), { code: answer.error.code })
  }
  const listeners = new Map<string, Set<(change: unknown) => void>>()
  const heardBy = (event: string) => listeners.get(event) ?? new Set()
  const on = (event: string, listener: (change: unknown) => void) => listeners.set(event, heardBy(event).add(listener))
  const removeListener = (event: string, listener: (change: unknown) => void) => heardBy(event).delete(listener)
  const emit = (event: string, change: unknown) => {
    for (const listener of heardBy(event)) listener(change)
  }
  Object.defineProperty(globalThis, 'ethereum', { value: { request, on, removeListener, emit } })
}

/** Findings of an accessibility checker that are serious or worse, on the page as it is. */
export async function seriousFaults(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  const violations = await page.evaluate(async () => {
    const options: axe.RunOptions = { resultTypes: ['violations'], iframes: false }
    return (await (Reflect.get(globalThis, 'axe') as typeof axe).run(options)).violations
  })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(node => `${id}: ${node.target.join(' ')} ${node.failureSummary ?? ''}`))
}
