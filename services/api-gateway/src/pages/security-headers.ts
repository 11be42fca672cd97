import type { RequestHandler } from 'express'
import helmet from 'helmet'

/** Headers of every answer. Scripts, styles and pictures come from us alone; the pages talk to us and to the identity provider. */
export function securityHeaders(authUrl: string | undefined): RequestHandler {
  const self = "'self'"
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: [self],
        styleSrc: [self],
        imgSrc: [self, 'data:'],
        fontSrc: [self],
        connectSrc: authUrl ? [self, new URL(authUrl).origin] : [self],
        manifestSrc: [self],
        baseUri: ["'none'"],
        formAction: [self],
        frameAncestors: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    // Wallets that live in a window of their own answer to the page that opened it.
    crossOriginOpenerPolicy: { policy: 'same-origin-allow-popups' },
    xFrameOptions: { action: 'deny' },
  })
}
