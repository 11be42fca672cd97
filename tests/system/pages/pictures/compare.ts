import type { Browser } from 'playwright-core'

/** A channel of 255 that differs by less is the same colour, and a picture with fewer such pixels the same picture. */
const CHANNEL_MIN = 12
const PIXELS_MIN = 12

export interface Compared {
  /** As it is kept. */
  picture: Buffer
  /** Pixels that differ; Infinity for another size. */
  pixels: number
  isSame: boolean
  /** The kept picture, the new one, and the new one with what differs in red, side by side. */
  sheet: Buffer
}

/** Compares pictures in the browser that took them, which decodes and encodes by itself; kept pictures are WebP. */
export async function pictureComparer(browser: Browser) {
  const page = await browser.newPage()
  return async (taken: Buffer, reference: Buffer | null): Promise<Compared> => {
    const input = JSON.stringify([taken.toString('base64'), reference?.toString('base64') ?? null, CHANNEL_MIN])
    const { picture, pixels, sheet } = await page.evaluate<{ picture: string; pixels: number | null; sheet: string }>(
      `(${COMPARE})(${input})`,
    )
    const found = pixels ?? Number.POSITIVE_INFINITY
    return {
      picture: Buffer.from(picture, 'base64'),
      pixels: found,
      isSame: found < PIXELS_MIN,
      sheet: Buffer.from(sheet, 'base64'),
    }
  }
}

// Runs in the page. What is compared is what is kept: the new picture is encoded before it is looked at.
const COMPARE = `async ([taken, reference, channelMin]) => {
  const read = async (data, type) => {
    const picture = await createImageBitmap(await (await fetch('data:image/' + type + ';base64,' + data)).blob())
    const canvas = new OffscreenCanvas(picture.width, picture.height)
    const context = canvas.getContext('2d')
    context.drawImage(picture, 0, 0)
    return { canvas, context, image: context.getImageData(0, 0, picture.width, picture.height) }
  }
  const encoded = async canvas => {
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/webp', quality: 0.5 })).arrayBuffer())
    let text = ''
    for (const byte of bytes) text += String.fromCharCode(byte)
    return btoa(text)
  }
  const side = (...canvases) => {
    const gap = 12
    const width = canvases.reduce((sum, each) => sum + each.width + gap, -gap)
    const sheet = new OffscreenCanvas(width, Math.max(...canvases.map(each => each.height)))
    const context = sheet.getContext('2d')
    context.fillStyle = '#888'
    context.fillRect(0, 0, sheet.width, sheet.height)
    let x = 0
    for (const each of canvases) {
      context.drawImage(each, x, 0)
      x += each.width + gap
    }
    return encoded(sheet)
  }
  const picture = await encoded((await read(taken, 'png')).canvas)
  if (reference === null || picture === reference) return { picture, pixels: reference === null ? null : 0, sheet: picture }
  const [now, then] = [await read(picture, 'webp'), await read(reference, 'webp')]
  if (now.image.width !== then.image.width || now.image.height !== then.image.height) {
    return { picture, pixels: null, sheet: await side(then.canvas, now.canvas) }
  }
  const [a, b] = [now.image.data, then.image.data]
  let pixels = 0
  for (let at = 0; at < a.length; at += 4) {
    const differs = [0, 1, 2].some(channel => Math.abs(a[at + channel] - b[at + channel]) >= channelMin)
    if (!differs) continue
    pixels += 1
    a.set([220, 0, 60, 255], at)
  }
  const marked = new OffscreenCanvas(now.image.width, now.image.height)
  marked.getContext('2d').putImageData(now.image, 0, 0)
  return { picture, pixels, sheet: await side(then.canvas, now.canvas, marked) }
}`
