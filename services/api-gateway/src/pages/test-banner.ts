import { type RequestHandler, Router } from 'express'

const PATH = '/test-banner.css'

const style = `.test-banner{position:fixed;inset:auto 0 0;z-index:1000;margin:0;padding:2px 8px;pointer-events:none;text-align:center;font:600 12px/20px system-ui,sans-serif;
color:#1f1300;background:repeating-linear-gradient(-45deg,#ffd43b 0 14px,#ffc078 14px 28px)}body{padding-bottom:24px}
`

/** A page of a deployment for tests, which says so. Put in here, so that no page of a live one carries it. */
export const withTestBanner = (page: string): string =>
  page
    .replace('</head>', `<link rel="stylesheet" href="${PATH}"></head>`)
    .replace('<body>', '<body><p class="test-banner" role="note">Testes, sem dinheiro · Test mode, no real money</p>')

const sendStyle: RequestHandler = (_req, res) => void res.type('text/css').send(style)
export const testBannerRoutes = (): Router => Router().get(PATH, sendStyle)
