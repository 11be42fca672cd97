import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { openBrowser } from '../browser'

const FONTS = join(dirname(require.resolve('dejavu-fonts-ttf/package.json')), 'ttf')

/** A Chromium that draws the same on every machine: with fonts of the registry in place of the system's, and the same arithmetic on every processor. */
export async function openSteadyBrowser(): Promise<{ browser: Browser; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-fonts-'))
  const cache = join(folder, 'cache')
  mkdirSync(cache)
  const file = join(folder, 'fonts.conf')
  writeFileSync(file, fontconfig(FONTS, cache))
  const browser = await openBrowser({ args: ['--disable-skia-runtime-opts', '--disable-lcd-text'], env: { FONTCONFIG_FILE: file } })
  const close = async () => {
    await browser.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { browser, close }
}

const fontconfig = (fonts: string, cache: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>${fonts}</dir>
  <cachedir>${cache}</cachedir>
  <alias binding="same"><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <alias binding="same"><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
  <alias binding="same"><family>serif</family><prefer><family>DejaVu Serif</family></prefer></alias>
  <match target="font"><edit name="hintstyle" mode="assign"><const>hintnone</const></edit></match>
</fontconfig>
`
