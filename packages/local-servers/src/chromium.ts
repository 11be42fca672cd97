import { findProgram, installDebianPackage } from './debian'

/** The browser that page tests drive: PONTE_CHROMIUM, an installed one, or Debian's package where it may be installed. */
export async function findChromium(): Promise<string> {
  const find = () => process.env.PONTE_CHROMIUM ?? findProgram('chromium', 'chromium-browser', 'google-chrome')
  if (!find()) {
    await installDebianPackage('chromium', 'testing the pages').catch(cause => {
      throw new Error(`${cause.message}\nOr set PONTE_CHROMIUM to a Chromium of yours.`, { cause })
    })
  }
  return find() ?? 'chromium'
}
