import type { ErrorCode, Problem } from '@ponte/contracts'
import type { ErrorPage } from '@ponte/service-kit'
import type { Request } from 'express'
import { mark } from '../docs/docs-style'

type Language = 'pt' | 'en'
interface Text {
  title: string
  advice: string
}

const TEXTS: Partial<Record<ErrorCode, Record<Language, Text>>> = {
  not_found: {
    pt: { title: 'Página não encontrada', advice: 'Confira o endereço ou o link que você recebeu.' },
    en: { title: 'Page not found', advice: 'Check the address, or the link that you were sent.' },
  },
  rate_limited: {
    pt: { title: 'Muitas tentativas', advice: 'Aguarde um minuto e recarregue a página.' },
    en: { title: 'Too many requests', advice: 'Wait a minute and reload the page.' },
  },
}
const OTHERWISE: Record<Language, Text> = {
  pt: { title: 'Não foi possível abrir a página', advice: 'Tente de novo em instantes.' },
  en: { title: 'The page could not be opened', advice: 'Try again in a moment.' },
}
const REFERENCE: Record<Language, string> = { pt: 'Código para o suporte', en: 'Reference for support' }

/** Machines get problem+json everywhere; a browser that opens something else than the API gets a page it can show. */
export const errorPage: ErrorPage = (problem, req) => (isPageView(req) ? render(problem, languageOf(req)) : null)

const isPageView = (req: Request) =>
  (req.method === 'GET' || req.method === 'HEAD') &&
  !/^\/(api|assets)(\/|$)|\.json$/.test(req.path) &&
  req.accepts(['application/problem+json', 'application/json', 'text/html']) === 'text/html'

const languageOf = (req: Request): Language => (req.acceptsLanguages(['pt', 'pt-BR', 'en']) === 'en' ? 'en' : 'pt')

function render({ code, status, request_id }: Problem, language: Language): string {
  const { title, advice } = (TEXTS[code] ?? { pt: OTHERWISE.pt, en: OTHERWISE.en })[language]
  return `<!doctype html>
<html lang="${language === 'pt' ? 'pt-BR' : 'en'}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Ponte</title><link rel="icon" type="image/svg+xml" href="/docs/mark.svg"><link rel="stylesheet" href="/docs/style.css"></head>
<body><main><p class="brand">${mark}Ponte</p><h1>${title}</h1><p>${advice}</p><p><small>${REFERENCE[language]}: <code>${status} ${request_id}</code></small></p></main></body></html>
`
}
