import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { LinkBody, List, OrderBody } from '@ponte/contracts'
import { startHttpServer } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import type { Page } from 'playwright-core'
import { call, merchant, pay, system, world } from '../../world'
import { pdfText } from '../../world/pdf-text'
import { DESKTOP, openVisit, PHONE, seriousFaults } from './browser'
import { logIn } from './every-page'
import { browser, runPages } from './run-pages'

// A merchant without a developer makes a link, a payer opens an order on it, and both see that it is paid.

runPages()

const read = <T>(path: string) => call<T>(system.gatewayUrl, 'GET', `/api/v1/${path}`, merchant.api_key)
const pictured = async (page: Page, name: string) => {
  if (process.env.PICTURES_DIR) await page.screenshot({ path: `${process.env.PICTURES_DIR}/${name}.png`, fullPage: true })
}
const create = (body: object) =>
  call<LinkBody>(system.gatewayUrl, 'POST', '/api/v1/links', merchant.api_key, { kind: 'invoice', description: 'Bolo', ...body })

test('a link is made on its page, opened by a payer on a phone, paid, and shown as paid to both', async () => {
  const { context, page, complaints } = await openVisit(browser)
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/links`)
  await page.getByText('No link yet').waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'New link' }).first().click()
  const form = page.getByRole('dialog')
  await form.getByRole('button', { name: 'Create the link' }).click()
  await form.locator('[aria-invalid=true]').first().waitFor()
  await form.getByRole('textbox', { name: 'Amount' }).fill('150,00')
  await form.getByLabel('Description').fill('Consulting, November')
  await form.getByLabel('Due date').fill('2099-12-31')
  await form.getByText('Customer (optional, for your books)').click()
  await form.locator('[name="customer.name"]').fill('Ana Souza')
  await form.locator('[name="customer.tax_id"]').fill('123.456.789-09')
  expect(await seriousFaults(page)).toEqual([])
  await form.getByRole('button', { name: 'Create the link' }).click()
  await page.getByText('Consulting, November').first().waitFor()
  const [link] = (await read<List<LinkBody>>('links')).data
  expect(link).toMatchObject({ kind: 'invoice', status: 'open', brl_amount: '150.00', orders_paid: 0, order_id: null })
  expect(link?.customer).toEqual({ name: 'Ana Souza', email: null, tax_id: '12345678909', resident: null })

  const payer = await openVisit(browser, { viewport: PHONE, language: 'pt-BR' })
  await payer.page.goto(link?.url ?? '')
  await payer.page.getByRole('heading', { level: 1, name: 'Padaria Estrela' }).waitFor()
  expect(await payer.page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
  expect(await seriousFaults(payer.page)).toEqual([])
  // Looked at and not opened.
  expect((await read<LinkBody>(`links/${link?.id}`)).order_id).toBeNull()
  await payer.page.getByRole('button', { name: 'Pagar agora' }).click()
  await payer.page.waitForURL(/\/pay\/[0-9a-f-]{36}$/)
  const order = await read<OrderBody>(`orders/${payer.page.url().split('/').at(-1)}`)
  expect(order).toMatchObject({ brl_amount: '150.00', description: 'Consulting, November', customer: { name: 'Ana Souza' } })
  expect(await payer.page.content()).not.toContain('Souza')
  await payer.page.goto(link?.url ?? '')
  await payer.page.getByRole('heading', { name: 'Pagamento começado' }).waitFor()
  await pay(world.chain, order)
  await until(async () => (await read<LinkBody>(`links/${link?.id}`)).status === 'paid', 'the link is not paid')
  await payer.page.reload()
  await payer.page.getByRole('heading', { name: 'Pago' }).waitFor()
  await payer.page.getByRole('link', { name: 'Ver o recibo' }).click()
  await payer.page.waitForURL(/receipt/)
  await page.getByText('Paid', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Consulting, November' }).click()
  await page.waitForURL(new RegExp(`/orders\\?link=${link?.id}`))
  await page.locator(`a[href$="/orders/${order.id}"]`).first().waitFor()
  expect({ complaints, payers: payer.complaints }).toEqual({ complaints: [], payers: [] })
  await payer.context.close()
  await context.close()
})

test('a payer chooses an amount within the bounds, and one outside them is refused on the page', async () => {
  const link = await create({ kind: 'reusable', brl_amount_min: '10.00', brl_amount_max: '50.00' })
  const { context, page, complaints } = await openVisit(browser)
  await page.goto(link.url)
  await page.getByLabel('Amount in reais').fill('50.01')
  await page.getByRole('button', { name: 'Pay now' }).click()
  await page.getByRole('heading', { name: 'Check the amount' }).waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await page.getByLabel('Amount in reais').fill('25.50')
  await page.getByRole('button', { name: 'Pay now' }).click()
  await page.waitForURL(/\/pay\/[0-9a-f-]{36}$/)
  expect((await read<OrderBody>(`orders/${page.url().split('/').at(-1)}`)).brl_amount).toBe('25.50')
  expect(complaints.filter(complaint => !complaint.includes('400'))).toEqual([])
  await context.close()
})

test('a link is ended on its page, and opens nothing any more', async () => {
  const link = await create({ brl_amount: '20.00', external_ref: 'END-1' })
  const { context, page } = await openVisit(browser, { viewport: PHONE, language: 'pt-BR' })
  await logIn(page, system.gatewayUrl, merchant.email)
  await page.goto(`${system.gatewayUrl}/dashboard/links`)
  const row = page.getByRole('row').filter({ hasText: 'END-1' })
  await row.getByRole('button', { name: 'Encerrar' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Encerrar', exact: true }).click()
  await row.getByText('Encerrado').waitFor()
  expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
  await page.goto(link.url)
  await page.getByRole('heading', { name: 'Link encerrado' }).waitFor()
  await page.goto(`${system.gatewayUrl}/pay/link/${link.id}`)
  await page.getByRole('heading', { name: 'Link não encontrado' }).waitFor()
  await context.close()
})

test.each([
  [
    'on a desk, in English',
    DESKTOP,
    'en-US',
    { share: 'Share', send: 'Send by…', png: 'QR as PNG', svg: 'QR as SVG', page: 'Page to print', print: 'Print', copy: /^Copy/ },
    { amount: 'R$\u00a0150.00', text: 'Padaria Estrela: Torta & café, R$\u00a0150.00. Pay here:' },
  ],
  [
    'on a phone, in Portuguese',
    PHONE,
    'pt-BR',
    {
      ...{ share: 'Compartilhar', send: 'Enviar por…', png: 'QR em PNG', svg: 'QR em SVG', page: 'Página para imprimir' },
      ...{ print: 'Imprimir', copy: /^Copiar/ },
    },
    { amount: 'R$\u00a0150,00', text: 'Padaria Estrela: Torta & café, R$\u00a0150,00. Pague por aqui:' },
  ],
] as const)(
  'a link is shared by the system, WhatsApp, a copy, pictures of its code and a sheet of paper, %s',
  async (_, viewport, language, words, shown) => {
    const link = await create({ brl_amount: '150.00', description: 'Torta & café', external_ref: `SHARE-${language}` })
    const { context, page, complaints, strangers } = await openVisit(browser, { viewport, language })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await context.addInitScript(`navigator.share = async sheet => { globalThis.sheet = sheet }
      print = () => { globalThis.isPrinting = true }`)
    await logIn(page, system.gatewayUrl, merchant.email)
    await page.goto(`${system.gatewayUrl}/dashboard/links`)
    await page.getByRole('button', { name: `${words.share}: ${link.external_ref}` }).click()
    const sheet = page.getByRole('dialog', { name: words.share })
    await sheet.locator('.share-code svg path').waitFor()
    await pictured(page, `share-${language}`)
    expect(await seriousFaults(page)).toEqual([])
    await sheet.getByRole('button', { name: words.send }).click()
    expect(await page.evaluate('sheet')).toEqual({ title: 'Padaria Estrela', text: shown.text, url: link.url })
    const message = new URL((await sheet.getByRole('link', { name: 'WhatsApp' }).getAttribute('href')) ?? '')
    expect(`${message.origin}${message.pathname} ${message.searchParams.get('text')}`).toBe(`https://wa.me/ ${shown.text} ${link.url}`)
    await sheet.getByRole('button', { name: words.copy }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(link.url)

    const saved = async (name: string) => {
      const [file] = await Promise.all([page.waitForEvent('download'), sheet.getByRole('button', { name }).click()])
      return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) }
    }
    const [svg, png] = [await saved(words.svg), await saved(words.png)]
    expect([svg.name, png.name]).toEqual([`qr-${link.id}.svg`, `qr-${link.id}.png`])
    const onPage = await sheet.locator('.share-code svg path').getAttribute('d')
    expect(svg.bytes.toString()).toContain(`d="${onPage}"`)
    expect(await page.evaluate(darkModules(png.bytes, Number(/viewBox="-2 -2 (\d+)/.exec(svg.bytes.toString())?.[1])))).toBe(onPage)

    await sheet.getByRole('link', { name: words.page }).click()
    await page.locator('.poster svg path').waitFor()
    for (const text of ['Padaria Estrela', shown.amount, 'Torta & café', link.url]) await page.locator('.poster').getByText(text).waitFor()
    expect(await page.locator('.poster svg path').getAttribute('d')).toBe(onPage)
    expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
    expect(await seriousFaults(page)).toEqual([])
    await page.getByRole('button', { name: words.print }).click()
    expect(await page.evaluate('isPrinting')).toBe(true)
    const paper = join(mkdtempSync(join(tmpdir(), 'ponte-paper-')), 'link.pdf')
    await page.pdf({ path: paper, preferCSSPageSize: true })
    const pages = pdfText(paper)
    expect(pages).toHaveLength(1)
    for (const text of ['Padaria Estrela', '150', 'Torta & café']) expect(pages[0]).toContain(text)
    expect(pages[0]).not.toMatch(/Log out|Sair|Overview|Team|Equipe/)
    await page.emulateMedia({ media: 'print' })
    await pictured(page, `paper-${language}`)
    rmSync(dirname(paper), { recursive: true })
    expect([complaints, strangers]).toEqual([[], []])
    await context.close()
  },
)

/** The dark modules of a picture of a QR code, as the path that its drawing has. Runs in the page. */
const darkModules = (png: Buffer, side: number) => `(async () => {
  const bytes = Uint8Array.from(atob('${png.toString('base64')}'), character => character.charCodeAt(0))
  const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
  context.drawImage(image, 0, 0)
  const scale = image.width / ${side}
  const at = each => Math.floor((each + 2.5) * scale)
  const isDark = (x, y) => context.getImageData(at(x), at(y), 1, 1).data[0] < 128
  const every = Array.from({ length: ${side - 4} }, (_, n) => n)
  return every.flatMap(y => every.flatMap(x => (isDark(x, y) ? ['M' + x + ' ' + y + 'h1v1h-1z'] : []))).join('')
})()`

test('a message previews a link with shop and amount, of pages that no search engine keeps, and opens nothing', async () => {
  const attack = `Bolo "><script>alert(1)</script> d'água`
  const link = await create({ brl_amount: '1520.00', description: attack, external_ref: 'PRIVATE-1', metadata: { seat: 'PRIVATE-2' } })
  for (const [method, agent] of [
    ['GET', 'WhatsApp/2.23'],
    ['HEAD', 'facebookexternalhit/1.1'],
    ['GET', 'TelegramBot (like TwitterBot)'],
  ] as const)
    await fetch(link.url, { method, headers: { 'user-agent': agent } })
  const answer = await fetch(link.url)
  expect(answer.headers.get('cache-control')).toBe('no-cache')
  const text = await answer.text()
  expect(text).toContain('<meta property="og:title" content="Padaria Estrela · R$ 1.520,00">')
  expect(text).toContain('<meta name="robots" content="noindex"')
  expect(text).not.toMatch(/PRIVATE|alert\(1\)<\/script>/)
  const [, picture = ''] = /property="og:image" content="([^"]+)"/.exec(text) ?? []
  expect((await fetch(picture)).headers.get('content-type')).toBe('image/png')
  expect(await read<LinkBody>(`links/${link.id}`)).toMatchObject({ order_id: null, orders_paid: 0 })

  const { context, page, complaints } = await openVisit(browser)
  await page.goto(link.url)
  await page.getByText(attack).waitFor()
  expect(await page.locator('meta[property="og:description"]').getAttribute('content')).toBe(attack)
  await page.getByRole('button', { name: 'Pay now' }).click()
  await page.waitForURL(/\/pay\/[0-9a-f-]{36}$/)
  expect(await (await fetch(page.url())).text()).toContain('<meta property="og:title" content="Padaria Estrela · R$ 1.520,00">')
  expect(complaints).toEqual([])
  await context.close()
})

/** A shop's own page, of another origin, under a policy that allows nothing but scripts with its nonce. */
async function openShop(bodyOf: (nonce: string) => string) {
  const { url, stop } = await startHttpServer((_req, res) => {
    res.setHeader('Content-Type', 'text/html; charset=utf-8')
    res.setHeader('Content-Security-Policy', "default-src 'none'; script-src 'nonce-r4nd0m'; require-trusted-types-for 'script'")
    res.setHeader('Cross-Origin-Embedder-Policy', 'require-corp')
    res.end(`<!doctype html><html lang="pt-BR"><title>Doces</title><main><h1>Doces</h1>${bodyOf('r4nd0m')}</main>`)
  })
  return { url: `${url}/`, stop }
}

test.each([
  [
    'on a desk, in English',
    DESKTOP,
    'en-US',
    'en',
    { button: 'Pay with USDC', pay: 'Pay now', site: 'Button for your site', back: 'Back to the shop' },
  ],
  [
    'on a phone, in Portuguese',
    PHONE,
    'pt-BR',
    'pt-BR',
    { button: 'Pagar com USDC', pay: 'Pagar agora', site: 'Botão para o seu site', back: 'Voltar à loja' },
  ],
] as const)(
  'the line that is copied draws a button in a strict page of another origin, by which a payer pays and comes back, %s',
  async (_, viewport, language, tag, words) => {
    const dashboard = await openVisit(browser, { viewport, language })
    await logIn(dashboard.page, system.gatewayUrl, merchant.email)
    const lines: string[] = []
    const shop = await openShop(nonce => lines.map(line => line.replace('<script ', `<script nonce="${nonce}" `)).join('<p>ou</p>'))
    const link = await create({
      kind: 'reusable',
      brl_amount: '12.00',
      external_ref: `BUTTON-${language}`,
      success_url: `${shop.url}obrigado`,
    })
    await dashboard.page.goto(`${system.gatewayUrl}/dashboard/links`)
    await dashboard.page.getByRole('button', { name: `: ${link.external_ref}` }).click()
    const sheet = dashboard.page.getByRole('dialog')
    await sheet.getByText(words.site).click()
    lines.push(...(await sheet.locator('pre').allTextContents()))
    expect(lines[0]).toBe(`<script src="${system.gatewayUrl}/button.js" data-link="${link.url}" data-lang="${tag}" async></script>`)
    expect(lines[1]).toBe(`<a href="${link.url}">${words.button}</a>`)
    expect(await seriousFaults(dashboard.page)).toEqual([])
    await pictured(dashboard.page, `button-lines-${language}`)

    const { context, page, complaints, strangers } = await openVisit(browser, { viewport, language })
    const asked: string[] = []
    page.on('request', request => asked.push(request.url()))
    await page.goto(shop.url)
    const button = page.locator('.ponte-button').getByRole('link', { name: words.button })
    await button.waitFor()
    await page.waitForLoadState('networkidle')
    expect(asked.filter(url => !url.endsWith('favicon.ico'))).toEqual([shop.url, `${system.gatewayUrl}/button.js`])
    expect(await context.cookies()).toEqual([])
    expect((await read<LinkBody>(`links/${link.id}`)).order_id).toBeNull()
    expect(await page.locator('iframe').count()).toBe(0)
    expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44)
    expect(await button.evaluate(each => each.ownerDocument.defaultView?.getComputedStyle(each).backgroundColor)).toBe('rgb(14, 107, 84)')
    await pictured(page, `button-${language}`)
    // By keyboard, as a link is.
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(link.url)
    await page.getByRole('button', { name: words.pay }).click()
    await page.waitForURL(/\/pay\/[0-9a-f-]{36}$/)
    await pay(world.chain, await read<OrderBody>(`orders/${page.url().split('/').at(-1)}`))
    await page.getByRole('link', { name: words.back }).click()
    await page.waitForURL(`${shop.url}obrigado`)
    expect([complaints, strangers]).toEqual([[], []])
    await shop.stop()
    await context.close()
    await dashboard.context.close()
  },
)

test.each([
  [
    ...[
      'on a desk, in English',
      DESKTOP,
      'en-US',
      { reminder: 'Reminder', message: 'Message to the customer', mail: 'E-mail', copy: 'Copy the message' },
    ],
    'Hello, Ana Souza! The invoice LATE-en-US of Padaria Estrela (R$\u00a0150.00) was due on Nov 10, 2020 and is open. If you have paid it, please ignore this. To pay:',
  ],
  [
    ...[
      'on a phone, in Portuguese',
      PHONE,
      'pt-BR',
      { reminder: 'Lembrete', message: 'Mensagem ao cliente', mail: 'E-mail', copy: 'Copiar a mensagem' },
    ],
    'Olá, Ana Souza! A fatura LATE-pt-BR, de Padaria Estrela (R$\u00a0150,00), venceu em 10 de nov. de 2020 e está em aberto. Se já pagou, desconsidere. Para pagar:',
  ],
] as const)(
  'a reminder of an invoice is written for WhatsApp and for the mail of the merchant, %s',
  async (_, viewport, language, words, text) => {
    const link = await create({
      ...{ brl_amount: '150.00', external_ref: `LATE-${language}`, due_at: '2020-11-10T12:00:00Z' },
      customer: { name: 'Ana Souza', email: 'ana+nf@example.com' },
    })
    const { context, page, complaints } = await openVisit(browser, { viewport, language })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await logIn(page, system.gatewayUrl, merchant.email)
    await page.goto(`${system.gatewayUrl}/dashboard/links`)
    await page.getByRole('button', { name: `: ${link.external_ref}` }).click()
    const sheet = page.getByRole('dialog')
    // An overdue invoice shows it opened.
    const message = sheet.getByLabel(words.message)
    await message.waitFor()
    expect(await message.inputValue()).toBe(`${text}\n${link.url}`)
    expect(await seriousFaults(page)).toEqual([])
    await message.scrollIntoViewIfNeeded()
    await pictured(page, `reminder-${language}`)
    const sent = async (name: string) =>
      new URL((await sheet.locator('details', { hasText: words.reminder }).getByRole('link', { name }).getAttribute('href')) ?? '')
    expect((await sent('WhatsApp')).searchParams.get('text')).toBe(`${text}\n${link.url}`)
    const mail = await sent(words.mail)
    expect([mail.protocol, mail.pathname]).toEqual(['mailto:', encodeURIComponent('ana+nf@example.com')])
    expect(mail.searchParams.get('subject')).toBe(`Padaria Estrela: LATE-${language}`)
    expect(mail.searchParams.get('body')).toBe(`${text}\n${link.url}`)
    await message.fill('Oi & tchau')
    await sheet.getByRole('button', { name: words.copy }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('Oi & tchau')
    expect((await sent('WhatsApp')).searchParams.get('text')).toBe('Oi & tchau')
    expect(complaints).toEqual([])
    await context.close()
  },
)

test('a button leads to links of its own gateway alone, and a script of it is small', async () => {
  const code = await (await fetch(`${system.gatewayUrl}/button.js`)).bytes()
  expect(gzipSync(code).length).toBeLessThan(4_000)
  const wrong = ['javascript:alert(1)', 'https://shop.example/pay/link/1', '/dashboard', '', '//shop.example/pay/link/1', 'https://']
  const shop = await openShop(nonce =>
    wrong.map(link => `<script nonce="${nonce}" src="${system.gatewayUrl}/button.js" data-link="${link}"></script>`).join(''),
  )
  const { context, page, complaints } = await openVisit(browser)
  await page.goto(shop.url)
  expect(complaints.length).toBe(wrong.length)
  for (const complaint of complaints) expect(complaint).toContain('data-link must be the URL of a payment link')
  expect(await page.locator('.ponte-button').count()).toBe(0)
  await shop.stop()
  await context.close()
})
