import type { Page } from 'playwright-core'
import { MERCHANT, PAYER } from '../../../world'
import { heading } from './stop'

/** A browser keeps this of a payment that left from it: by its transaction, or signed for the service to submit, now or long ago. */
export async function leaveSent(page: Page, orderId: string, hash: string | null, isOld = hash === null): Promise<void> {
  const sent = { hash, authorization: null, payer: MERCHANT.address, at: isOld ? 1 : Date.now(), receivedBefore: '0.000000' }
  await page.evaluate(`localStorage.setItem('ponte.sent.${orderId}', '${JSON.stringify(sent)}')`)
  await page.reload()
  await heading(page)
}

/** A transaction of this browser that its wallet finds refused by the network. */
export async function leaveFailed(page: Page, orderId: string): Promise<void> {
  await leaveSent(page, orderId, `0x${'5f'.repeat(32)}`)
  await announceWallet(page, "() => Promise.resolve({ status: '0x0' })")
  await page.locator('.notice.bad').waitFor()
}

/** Presses the button of a wallet that announces itself, and that answers as this source text. */
export async function payBy(page: Page, request: string): Promise<void> {
  await heading(page)
  await announceWallet(page, request)
  // On a phone the address of a transfer is what stands there first.
  await page.getByRole('tab').first().click()
  await page.locator('.wallets .primary').click()
}

/** Each part of a page that wants a wallet asks for announcements, and a wallet answers each time. */
export const announceWallet = (page: Page, request: string) =>
  page.evaluate(`(() => {
    const detail = { info: { rdns: 'io.example', uuid: '1', name: 'Carteira', icon: '' }, provider: { request: ${request} } }
    const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
    addEventListener('eip6963:requestProvider', announce)
    announce()
  })()`)

const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`

/** A wallet on the local chain with so many units of USDC, and so much for gas. */
export const walletWith = (units: bigint, wei: bigint): string =>
  `async ({ method, params }) => (${JSON.stringify({
    eth_requestAccounts: [PAYER.address],
    eth_chainId: '0x7a69',
    eth_getBalance: `0x${wei.toString(16)}`,
    eth_getCode: '0x',
  })})[method] ?? (params[0].data.startsWith('0x70a08231') ? '${word(units)}' : '${word(0n)}')`

/** A wallet on Base that shares its account and lists what it holds: too little there, enough on Polygon. */
export const walletOnBase = (): string => {
  const asset = (address: string, units: bigint) => [{ address, balance: word(units), type: 'erc20' }]
  const answers = {
    eth_accounts: [PAYER.address],
    eth_chainId: '0x2105',
    wallet_getAssets: {
      '0x2105': asset('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 20_000_000n),
      '0x89': asset('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 900_000_000n),
    },
  }
  return `async ({ method }) => (${JSON.stringify(answers)})[method]`
}
