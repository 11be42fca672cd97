import { randomBytes } from 'node:crypto'
import { type System, startAll, totpCode } from '@ponte/all-in-one'
import type { MerchantBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import type { Browser, Page } from 'playwright-core'
import { call, MERCHANT, PAYER, startWorld, type World } from '../../world'
import { openBrowser, openVisit, PHONE, seriousFaults } from './browser'
import { logIn, PASSWORD } from './every-page'

// The development identity provider confirms addresses by mail here, as a real one does.

const NEW_PASSWORD = 'another password for tests'
const mails: { to: string; text: string }[] = []
let world: World
let system: System
let browser: Browser
beforeAll(async () => {
  world = await startWorld({ identity: { confirmsMail: true, mail: mail => void mails.push(mail) } })
  system = await startAll(world.place, { logger: world.logger })
  browser = await openBrowser()
}, 90_000)
afterAll(async () => {
  await browser?.close()
  await system?.stop()
  await world?.stop()
})

const someone = () => `user-${randomBytes(6).toString('hex')}@ponte.example`
const linkTo = async (email: string) => {
  await until(() => mails.some(({ to }) => to === email), 'no mail was sent')
  return /https?:\S+/.exec(mails.findLast(({ to }) => to === email)?.text ?? '')?.[0] ?? ''
}
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor()
const submit = (page: Page) => page.locator('button[type=submit]').click()
const alertOf = async (page: Page, text: string) => page.getByRole('alert').getByText(text).waitFor()

async function tokenOf(email: string, password = PASSWORD): Promise<string> {
  const { url, publicClientKey } = world.place.identity
  const answer = await fetch(`${url}/auth/v1/token?grant_type=password`, {
    method: 'POST',
    headers: { apikey: publicClientKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  return ((await answer.json()) as { access_token: string }).access_token
}

/** A user with a confirmed address and a store. */
async function owner() {
  const email = someone()
  await world.identity.ensureUser(email, PASSWORD)
  const token = await tokenOf(email)
  const store = { display_name: 'Padaria Estrela', payout_address: MERCHANT.address }
  return { email, token, merchant: await call<MerchantBody>(system.gatewayUrl, 'POST', '/api/v1/merchants', token, store) }
}

test('a sign-up is confirmed by a link that works once, and its reader chooses the password', async () => {
  const email = someone()
  const { context, page, complaints } = await openVisit(browser)
  await page.goto(`${system.gatewayUrl}/dashboard`)
  await page.getByRole('button', { name: 'No account yet? Create one' }).click()
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill('of who came first')
  await submit(page)
  await heading(page, 'Look into your mail')
  await page.getByText(`If ${email} has no account yet`).waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(await seriousFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('Use the link of the newest message').waitFor()

  await page.getByRole('button', { name: 'Back to log in' }).click()
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill('of who came first')
  await submit(page)
  await alertOf(page, 'This address is not confirmed yet')
  await page.getByRole('button', { name: 'Send again' }).click()
  await heading(page, 'Look into your mail')

  const link = await linkTo(email)
  await page.goto(link)
  await heading(page, 'Confirm your address')
  expect(page.url()).toBe(`${system.gatewayUrl}/dashboard`)
  await page.getByRole('button', { name: 'Go on' }).click()
  expect(await page.getByLabel('Account').inputValue()).toBe(email)
  await page.getByLabel('New password').fill('short')
  await submit(page)
  await page.getByText('Use at least 8 characters.').waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await page.getByLabel('New password').fill(PASSWORD)
  await submit(page)
  await page.getByLabel('Store name').waitFor()
  // What whoever signed up first had typed opens nothing.
  expect(await tokenOf(email, 'of who came first')).toBeUndefined()
  expect(await tokenOf(email)).toEqual(expect.any(String))

  await page.goto('about:blank')
  await page.goto(link)
  await page.getByRole('button', { name: 'Go on' }).click()
  await heading(page, 'This link is not valid any more')
  await page.getByRole('button', { name: 'Ask for another link' }).click()
  // Still logged in by the first.
  await page.getByLabel('Store name').waitFor()
  expect(complaints).toEqual([])
  await context.close()
}, 90_000)

test('a sign-up with an address that is taken reads as any other, and changes nothing', async () => {
  const { email } = await owner()
  const { context, page } = await openVisit(browser)
  await page.goto(`${system.gatewayUrl}/dashboard`)
  await page.getByRole('button', { name: 'No account yet? Create one' }).click()
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill('of a stranger')
  await submit(page)
  await heading(page, 'Look into your mail')
  await page.getByText(`If ${email} has no account yet`).waitFor()
  expect(mails.some(({ to }) => to === email)).toBe(false)
  expect(await tokenOf(email)).toEqual(expect.any(String))
  await context.close()
}, 60_000)

test('who is invited and has no account makes one, and is in the store', async () => {
  const [{ token }, email] = [await owner(), someone()]
  const path = '/api/v1/merchants/me/invitations'
  const invitation = await call<{ token: string }>(system.gatewayUrl, 'POST', path, token, { email, role: 'viewer' })
  const { context, page, complaints } = await openVisit(browser, { viewport: PHONE, language: 'pt-BR' })
  await page.goto(`${system.gatewayUrl}/dashboard/join#${invitation.token}`)
  await page.getByText('Você recebeu um convite').waitFor()
  await page.getByRole('button', { name: 'Ainda não tem conta? Criar' }).click()
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Senha', { exact: true }).fill(PASSWORD)
  await submit(page)
  await heading(page, 'Veja o seu e-mail')
  const mailed = await context.newPage()
  // The first tab hears of the login, and is where the invitation leads before this one goes on.
  await mailed.route('**/api/v1/sessions/end-others', async route => {
    await page.getByRole('button', { name: 'Entrar na loja' }).waitFor()
    await route.continue()
  })
  await mailed.goto(await linkTo(email))
  await mailed.getByRole('button', { name: 'Continuar' }).click()
  await mailed.getByLabel('Nova senha').fill(PASSWORD)
  await submit(mailed)
  await mailed.getByRole('button', { name: 'Entrar na loja' }).click()
  await mailed.locator('nav').waitFor()
  expect(new URL(mailed.url()).pathname).toBe('/dashboard')
  expect(await mailed.evaluate<string>('JSON.stringify({ ...localStorage })')).toBe('{}')
  expect(complaints).toEqual([])
  await context.close()
}, 90_000)

test('a forgotten password is replaced by a link, and whoever else was logged in is out at once', async () => {
  const { email } = await owner()
  const thief = await openVisit(browser)
  await logIn(thief.page, system.gatewayUrl, email)
  const stolen = await tokenOf(email)
  const { context, page, complaints } = await openVisit(browser, { viewport: PHONE, language: 'pt-BR', colorScheme: 'dark' })
  const ask = async (address: string) => {
    await page.goto(`${system.gatewayUrl}/dashboard`)
    await page.getByRole('button', { name: 'Esqueceu a senha?' }).click()
    await heading(page, 'Escolher uma nova senha')
    await page.getByLabel('E-mail').fill(address)
    await submit(page)
    await heading(page, 'Veja o seu e-mail')
    return (await page.locator('.door-card').innerText()).replaceAll(address, '…')
  }
  expect(await ask(email)).toBe(await ask(someone()))
  await page.goto(await linkTo(email))
  await page.getByRole('button', { name: 'Continuar' }).click()
  await page.getByLabel('Nova senha').fill(NEW_PASSWORD)
  expect(await seriousFaults(page)).toEqual([])
  await submit(page)
  await page.locator('nav').waitFor()
  expect(await tokenOf(email)).toBeUndefined()
  expect(await tokenOf(email, NEW_PASSWORD)).toEqual(expect.any(String))
  const withStolen = await fetch(`${system.gatewayUrl}/api/v1/merchants/me`, { headers: { Authorization: `Bearer ${stolen}` } })
  expect(withStolen.status).toBe(401)
  await thief.page.reload()
  await heading(thief.page, 'Log in')
  expect(complaints).toEqual([])
  await context.close()
  await thief.context.close()
}, 90_000)

test('a password is changed by who knows the old one, and every other session is shown and ends', async () => {
  const { email } = await owner()
  const other = await openVisit(browser)
  await logIn(other.page, system.gatewayUrl, email)
  const { context, page, complaints } = await openVisit(browser)
  await logIn(page, system.gatewayUrl, email)
  await page.getByRole('link', { name: 'Your login' }).click()
  await page.getByText(`You are logged in as ${email}.`).waitFor()
  const sessions = page.locator('.card').filter({ hasText: 'Where your login is in use' }).getByRole('row')
  await until(async () => (await sessions.count()) === 3, 'not all sessions are shown')
  await sessions.filter({ hasText: 'This session' }).waitFor()
  await sessions.filter({ hasText: 'Chrome' }).filter({ hasNotText: 'This session' }).getByRole('button', { name: 'End' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End' }).click()
  await until(async () => (await sessions.count()) === 2, 'an ended session is still shown')
  await other.page.reload()
  await heading(other.page, 'Log in')

  const change = async (current: string, fresh: string) => {
    await page.getByLabel('Current password').fill(current)
    await page.getByLabel('New password').fill(fresh)
    await page.getByRole('button', { name: 'Change the password' }).click()
  }
  await change('not the password', NEW_PASSWORD)
  await alertOf(page, 'The current password does not match. Try again.')
  await change(PASSWORD, PASSWORD)
  await alertOf(page, 'This is the password you have. Choose another one.')
  await change(PASSWORD, NEW_PASSWORD)
  await page.getByText('The password is changed, and the other sessions have ended.').waitFor()
  await until(async () => (await sessions.count()) === 1, 'other sessions are still shown')
  await page.reload()
  await page.getByText(`You are logged in as ${email}.`).waitFor()
  expect(await tokenOf(email, NEW_PASSWORD)).toEqual(expect.any(String))
  expect(await seriousFaults(page)).toEqual([])
  expect(complaints).toEqual([])
  await context.close()
  await other.context.close()
}, 90_000)

test('a second factor is asked for at each login, and without it no payout address changes', async () => {
  const { email } = await owner()
  const { context, page, complaints } = await openVisit(browser)
  await logIn(page, system.gatewayUrl, email)
  await page.getByRole('link', { name: 'Your login' }).click()
  await page.getByRole('button', { name: 'Turn on the second factor' }).click()
  const secret = (await page.getByText(/^[A-Z2-7]{32}$/).textContent()) ?? ''
  await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await page.getByLabel('Code', { exact: true }).fill('12')
  await page.getByRole('button', { name: 'Turn on', exact: true }).click()
  await page.getByText('Write the six digits that the app shows now.').waitFor()
  await page.getByLabel('Code', { exact: true }).fill(totpCode(secret, new Date()).replace(/^(...)/, '$1 '))
  await page.getByRole('button', { name: 'Turn on', exact: true }).click()
  await page.getByText('The second factor is on. Sessions without it have ended.').waitFor()
  await page.getByRole('button', { name: 'Log out' }).click()

  const patch = async (payout_address: string) => {
    const answer = await fetch(`${system.gatewayUrl}/api/v1/merchants/me`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${await tokenOf(email)}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ payout_address }),
    })
    return [answer.status, ((await answer.json()) as { code?: string }).code]
  }
  expect(await patch(PAYER.address)).toEqual([403, 'second_factor_required'])

  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await submit(page)
  await heading(page, 'Second factor')
  expect(await seriousFaults(page)).toEqual([])
  await page.getByLabel('Code', { exact: true }).fill('000000')
  await submit(page)
  await alertOf(page, 'The code does not match.')
  await page.getByLabel('Code', { exact: true }).fill(totpCode(secret, new Date()))
  await submit(page)
  await page.locator('nav').waitFor()
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('button', { name: 'Change the address' }).click()
  await page.getByRole('dialog').getByLabel('New payout address').fill(PAYER.address)
  await page.getByRole('dialog').getByRole('button', { name: 'Go on' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Change the address' }).click()
  await page.getByText('Another address takes effect').first().waitFor()

  await page.getByRole('link', { name: 'Your login' }).click()
  await page.getByRole('button', { name: 'Turn off' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click()
  await page.getByText('The second factor is off.').waitFor()
  await page.getByRole('button', { name: 'Turn on the second factor' }).waitFor()
  expect(complaints).toEqual([])
  await context.close()
}, 90_000)

test('too many attempts are named as such, and what to do', async () => {
  const { email } = await owner()
  const { context, page } = await openVisit(browser, { language: 'pt-BR' })
  await page.goto(`${system.gatewayUrl}/dashboard`)
  await page.getByLabel('E-mail').fill(email)
  for (let n = 0; n <= 10; n++) {
    await page.getByLabel('Senha', { exact: true }).fill(`wrong ${n}`)
    const answered = page.waitForResponse(response => response.url().includes('grant_type=password'))
    await submit(page)
    await answered
    await page.getByRole('alert').waitFor()
  }
  await alertOf(page, 'Muitas tentativas. Espere alguns minutos e tente de novo.')
  await context.close()
}, 60_000)
