import { randomBytes } from 'node:crypto'
import { totpCode } from '@ponte/all-in-one'
import type { MerchantBody } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import type { Page } from 'playwright-core'
import { call, MERCHANT, PAYER, system, world } from '../../world'
import { openVisit, PHONE, seriousFaults } from './browser'
import { logIn, PASSWORD } from './every-page'
import { browser, runPages } from './run-pages'

// The development identity provider confirms addresses by mail here, as a real one does.

const NEW_PASSWORD = 'another password for tests'
const mails: { to: string; text: string }[] = []
runPages({ world: { identity: { confirmsMail: true, mail: mail => void mails.push(mail) } }, merchant: false })

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

/** As the pages have them. */
const words = {
  'en-US': {
    signUp: 'No account yet? Create one',
    email: 'Email',
    password: 'Password',
    lookIntoMail: 'Look into your mail',
    again: 'Send again',
    newest: 'Use the link of the newest message',
    back: 'Back to log in',
    unconfirmed: 'This address is not confirmed yet',
    confirm: 'Confirm your address',
    goOn: 'Go on',
    account: 'Account',
    newPassword: 'New password',
    tooShort: 'Use at least 8 characters.',
    storeName: 'Store name',
    over: 'This link is not valid any more',
    another: 'Ask for another link',
    invited: 'You were invited',
    join: 'Join the store',
    forgotten: 'Forgot your password?',
    choose: 'Choose a new password',
    logIn: 'Log in',
    yourLogin: 'Your login',
    inUse: 'Where your login is in use',
    here: 'This session',
    end: 'End',
    current: 'Current password',
    change: 'Change the password',
    noMatch: 'The current password does not match. Try again.',
    same: 'This is the password you have. Choose another one.',
    changed: 'The password is changed, and the other sessions have ended.',
    turnOnFactor: 'Turn on the second factor',
    qr: 'QR code for the authenticator app',
    code: 'Code',
    turnOn: 'Turn on',
    sixDigits: 'Write the six digits that the app shows now.',
    factorOn: 'The second factor is on. Sessions without it have ended.',
    logOut: 'Log out',
    factor: 'Second factor',
    wrongCode: 'The code does not match.',
    settings: 'Settings',
    changeAddress: 'Change the address',
    newAddress: 'New payout address',
    takesEffect: 'Another address takes effect',
    turnOff: 'Turn off',
    factorOff: 'The second factor is off.',
    tooMany: 'Too many attempts. Wait a few minutes, then try again.',
    ifNoAccount: (email: string) => `If ${email} has no account yet`,
    loggedInAs: (email: string) => `You are logged in as ${email}.`,
  },
  'pt-BR': {
    signUp: 'Ainda não tem conta? Criar',
    email: 'E-mail',
    password: 'Senha',
    lookIntoMail: 'Veja o seu e-mail',
    again: 'Enviar de novo',
    newest: 'Use o link da mensagem mais nova',
    back: 'Voltar para entrar',
    unconfirmed: 'Este e-mail ainda não foi confirmado',
    confirm: 'Confirmar o seu e-mail',
    goOn: 'Continuar',
    account: 'Conta',
    newPassword: 'Nova senha',
    tooShort: 'Use pelo menos 8 caracteres.',
    storeName: 'Nome da loja',
    over: 'Este link não vale mais',
    another: 'Pedir outro link',
    invited: 'Você recebeu um convite',
    join: 'Entrar na loja',
    forgotten: 'Esqueceu a senha?',
    choose: 'Escolher uma nova senha',
    logIn: 'Entrar',
    yourLogin: 'Seu login',
    inUse: 'Onde o seu login está em uso',
    here: 'Esta sessão',
    end: 'Encerrar',
    current: 'Senha atual',
    change: 'Trocar a senha',
    noMatch: 'A senha atual não confere. Tente de novo.',
    same: 'Esta é a senha de antes. Escolha outra.',
    changed: 'A senha foi trocada, e as outras sessões foram encerradas.',
    turnOnFactor: 'Ligar o segundo fator',
    qr: 'Código QR para o aplicativo autenticador',
    code: 'Código',
    turnOn: 'Ligar',
    sixDigits: 'Escreva os seis dígitos que o aplicativo mostra agora.',
    factorOn: 'O segundo fator está ligado. As sessões sem ele foram encerradas.',
    logOut: 'Sair',
    factor: 'Segundo fator',
    wrongCode: 'O código não confere.',
    settings: 'Ajustes',
    changeAddress: 'Trocar o endereço',
    newAddress: 'Novo endereço de recebimento',
    takesEffect: 'Outro endereço passa a valer',
    turnOff: 'Desligar',
    factorOff: 'O segundo fator foi desligado.',
    tooMany: 'Muitas tentativas. Espere alguns minutos e tente de novo.',
    ifNoAccount: (email: string) => `Se ${email} ainda não tem conta`,
    loggedInAs: (email: string) => `Você entrou como ${email}.`,
  },
}

describe.each(['en-US', 'pt-BR'] as const)('in %s', language => {
  const t = words[language]

  test('a sign-up is confirmed by a link that works once, and its reader chooses the password', async () => {
    const email = someone()
    const { context, page, complaints } = await openVisit(browser, { language })
    await page.goto(`${system.gatewayUrl}/dashboard`)
    await page.getByRole('button', { name: t.signUp }).click()
    await page.getByLabel(t.email).fill(email)
    await page.getByLabel(t.password, { exact: true }).fill('of who came first')
    await submit(page)
    await heading(page, t.lookIntoMail)
    await page.getByText(t.ifNoAccount(email)).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await seriousFaults(page)).toEqual([])
    await page.getByRole('button', { name: t.again }).click()
    await page.getByText(t.newest).waitFor()

    await page.getByRole('button', { name: t.back }).click()
    await page.getByLabel(t.email).fill(email)
    await page.getByLabel(t.password, { exact: true }).fill('of who came first')
    await submit(page)
    await alertOf(page, t.unconfirmed)
    await page.getByRole('button', { name: t.again }).click()
    await heading(page, t.lookIntoMail)

    const link = await linkTo(email)
    await page.goto(link)
    await heading(page, t.confirm)
    expect(page.url()).toBe(`${system.gatewayUrl}/dashboard`)
    await page.getByRole('button', { name: t.goOn }).click()
    expect(await page.getByLabel(t.account).inputValue()).toBe(email)
    await page.getByLabel(t.newPassword).fill('short')
    await submit(page)
    await page.getByText(t.tooShort).waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await page.getByLabel(t.newPassword).fill(PASSWORD)
    await submit(page)
    await page.getByLabel(t.storeName).waitFor()
    // What whoever signed up first had typed opens nothing.
    expect(await tokenOf(email, 'of who came first')).toBeUndefined()
    expect(await tokenOf(email)).toEqual(expect.any(String))

    await page.goto('about:blank')
    await page.goto(link)
    await page.getByRole('button', { name: t.goOn }).click()
    await heading(page, t.over)
    await page.getByRole('button', { name: t.another }).click()
    // Still logged in by the first.
    await page.getByLabel(t.storeName).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test('a sign-up with an address that is taken reads as any other, and changes nothing', async () => {
    const { email } = await owner()
    const { context, page } = await openVisit(browser, { language })
    await page.goto(`${system.gatewayUrl}/dashboard`)
    await page.getByRole('button', { name: t.signUp }).click()
    await page.getByLabel(t.email).fill(email)
    await page.getByLabel(t.password, { exact: true }).fill('of a stranger')
    await submit(page)
    await heading(page, t.lookIntoMail)
    await page.getByText(t.ifNoAccount(email)).waitFor()
    expect(mails.some(({ to }) => to === email)).toBe(false)
    expect(await tokenOf(email)).toEqual(expect.any(String))
    await context.close()
  })

  test('who is invited and has no account makes one, and is in the store', async () => {
    const [{ token }, email] = [await owner(), someone()]
    const path = '/api/v1/merchants/me/invitations'
    const invitation = await call<{ token: string }>(system.gatewayUrl, 'POST', path, token, { email, role: 'viewer' })
    const { context, page, complaints } = await openVisit(browser, { viewport: PHONE, language })
    await page.goto(`${system.gatewayUrl}/dashboard/join#${invitation.token}`)
    await page.getByText(t.invited).waitFor()
    await page.getByRole('button', { name: t.signUp }).click()
    await page.getByLabel(t.email).fill(email)
    await page.getByLabel(t.password, { exact: true }).fill(PASSWORD)
    await submit(page)
    await heading(page, t.lookIntoMail)
    const mailed = await context.newPage()
    // The first tab hears of the login, and is where the invitation leads before this one goes on.
    await mailed.route('**/api/v1/sessions/end-others', async route => {
      await page.getByRole('button', { name: t.join }).waitFor()
      await route.continue()
    })
    await mailed.goto(await linkTo(email))
    await mailed.getByRole('button', { name: t.goOn }).click()
    await mailed.getByLabel(t.newPassword).fill(PASSWORD)
    await submit(mailed)
    await mailed.getByRole('button', { name: t.join }).click()
    await mailed.locator('nav').waitFor()
    expect(new URL(mailed.url()).pathname).toBe('/dashboard')
    expect(await mailed.evaluate<string>('JSON.stringify({ ...localStorage })')).toBe('{}')
    expect(complaints).toEqual([])
    await context.close()
  })

  test('a forgotten password is replaced by a link, and whoever else was logged in is out at once', async () => {
    const { email } = await owner()
    const thief = await openVisit(browser, { language })
    await logIn(thief.page, system.gatewayUrl, email)
    const stolen = await tokenOf(email)
    const { context, page, complaints } = await openVisit(browser, { viewport: PHONE, language, colorScheme: 'dark' })
    const ask = async (address: string) => {
      await page.goto(`${system.gatewayUrl}/dashboard`)
      await page.getByRole('button', { name: t.forgotten }).click()
      await heading(page, t.choose)
      await page.getByLabel(t.email).fill(address)
      await submit(page)
      await heading(page, t.lookIntoMail)
      return (await page.locator('.door-card').innerText()).replaceAll(address, '…')
    }
    expect(await ask(email)).toBe(await ask(someone()))
    await page.goto(await linkTo(email))
    await page.getByRole('button', { name: t.goOn }).click()
    await page.getByLabel(t.newPassword).fill(NEW_PASSWORD)
    expect(await seriousFaults(page)).toEqual([])
    await submit(page)
    await page.locator('nav').waitFor()
    expect(await tokenOf(email)).toBeUndefined()
    expect(await tokenOf(email, NEW_PASSWORD)).toEqual(expect.any(String))
    const withStolen = await fetch(`${system.gatewayUrl}/api/v1/merchants/me`, { headers: { Authorization: `Bearer ${stolen}` } })
    expect(withStolen.status).toBe(401)
    await thief.page.reload()
    await heading(thief.page, t.logIn)
    expect(complaints).toEqual([])
    await context.close()
    await thief.context.close()
  })

  test('a password is changed by who knows the old one, and every other session is shown and ends', async () => {
    const { email } = await owner()
    const other = await openVisit(browser, { language })
    await logIn(other.page, system.gatewayUrl, email)
    const { context, page, complaints } = await openVisit(browser, { language })
    await logIn(page, system.gatewayUrl, email)
    await page.getByRole('link', { name: t.yourLogin }).click()
    await page.getByText(t.loggedInAs(email)).waitFor()
    const sessions = page.locator('.card').filter({ hasText: t.inUse }).getByRole('row')
    await until(async () => (await sessions.count()) === 3, 'not all sessions are shown')
    await sessions.filter({ hasText: t.here }).waitFor()
    await sessions.filter({ hasText: 'Chrome' }).filter({ hasNotText: t.here }).getByRole('button', { name: t.end }).click()
    await page.getByRole('dialog').getByRole('button', { name: t.end }).click()
    await until(async () => (await sessions.count()) === 2, 'an ended session is still shown')
    await other.page.reload()
    await heading(other.page, t.logIn)

    const change = async (current: string, fresh: string) => {
      await page.getByLabel(t.current).fill(current)
      await page.getByLabel(t.newPassword).fill(fresh)
      await page.getByRole('button', { name: t.change }).click()
    }
    await change('not the password', NEW_PASSWORD)
    await alertOf(page, t.noMatch)
    await change(PASSWORD, PASSWORD)
    await alertOf(page, t.same)
    await change(PASSWORD, NEW_PASSWORD)
    await page.getByText(t.changed).waitFor()
    await until(async () => (await sessions.count()) === 1, 'other sessions are still shown')
    await page.reload()
    await page.getByText(t.loggedInAs(email)).waitFor()
    expect(await tokenOf(email, NEW_PASSWORD)).toEqual(expect.any(String))
    expect(await seriousFaults(page)).toEqual([])
    expect(complaints).toEqual([])
    await context.close()
    await other.context.close()
  })

  test('a second factor is asked for at each login, and without it no payout address changes', async () => {
    const { email } = await owner()
    const { context, page, complaints } = await openVisit(browser, { language })
    await logIn(page, system.gatewayUrl, email)
    await page.getByRole('link', { name: t.yourLogin }).click()
    await page.getByRole('button', { name: t.turnOnFactor }).click()
    const secret = (await page.getByText(/^[A-Z2-7]{32}$/).textContent()) ?? ''
    await page.getByRole('img', { name: t.qr }).waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await page.getByLabel(t.code, { exact: true }).fill('12')
    await page.getByRole('button', { name: t.turnOn, exact: true }).click()
    await page.getByText(t.sixDigits).waitFor()
    await page.getByLabel(t.code, { exact: true }).fill(totpCode(secret, new Date()).replace(/^(...)/, '$1 '))
    await page.getByRole('button', { name: t.turnOn, exact: true }).click()
    await page.getByText(t.factorOn).waitFor()
    await page.getByRole('button', { name: t.logOut }).click()

    const patch = async (payout_address: string) => {
      const answer = await fetch(`${system.gatewayUrl}/api/v1/merchants/me`, {
        method: 'PATCH',
        headers: { Authorization: `Bearer ${await tokenOf(email)}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ payout_address }),
      })
      return [answer.status, ((await answer.json()) as { code?: string }).code]
    }
    expect(await patch(PAYER.address)).toEqual([403, 'second_factor_required'])

    await page.getByLabel(t.email).fill(email)
    await page.getByLabel(t.password, { exact: true }).fill(PASSWORD)
    await submit(page)
    await heading(page, t.factor)
    expect(await seriousFaults(page)).toEqual([])
    await page.getByLabel(t.code, { exact: true }).fill('000000')
    await submit(page)
    await alertOf(page, t.wrongCode)
    await page.getByLabel(t.code, { exact: true }).fill(totpCode(secret, new Date()))
    await submit(page)
    await page.locator('nav').waitFor()
    await page.getByRole('link', { name: t.settings }).click()
    await page.getByRole('button', { name: t.changeAddress }).click()
    await page.getByRole('dialog').getByLabel(t.newAddress).fill(PAYER.address)
    await page.getByRole('dialog').getByRole('button', { name: t.goOn }).click()
    await page.getByRole('dialog').getByRole('button', { name: t.changeAddress }).click()
    await page.getByText(t.takesEffect).first().waitFor()

    await page.getByRole('link', { name: t.yourLogin }).click()
    await page.getByRole('button', { name: t.turnOff }).click()
    await page.getByRole('dialog').getByRole('button', { name: t.turnOff }).click()
    await page.getByText(t.factorOff).waitFor()
    await page.getByRole('button', { name: t.turnOnFactor }).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  test('too many attempts are named as such, and what to do', async () => {
    const { email } = await owner()
    const { context, page } = await openVisit(browser, { language })
    await page.goto(`${system.gatewayUrl}/dashboard`)
    await page.getByLabel(t.email).fill(email)
    for (let n = 0; n <= 10; n++) {
      await page.getByLabel(t.password, { exact: true }).fill(`wrong ${n}`)
      const answered = page.waitForResponse(response => response.url().includes('grant_type=password'))
      await submit(page)
      await answered
      await page.getByRole('alert').waitFor()
    }
    await alertOf(page, t.tooMany)
    await context.close()
  })
})
