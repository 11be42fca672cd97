/** As much base64 as the service takes. */
const BASE64_MAX = 60_000
const SIDES = [256, 192, 128, 64]

/** A picture of any format that the browser can read, as a small PNG in base64; null for what is no picture. */
export async function logoFrom(file: File): Promise<string | null> {
  try {
    const picture = await createImageBitmap(file)
    return SIDES.map(side => drawn(picture, side)).find(base64 => base64.length <= BASE64_MAX) ?? null
  } catch (error) {
    if (error instanceof DOMException) return null
    throw error
  }
}

function drawn(picture: ImageBitmap, side: number): string {
  const scale = Math.min(1, side / Math.max(picture.width, picture.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(picture.width * scale))
  canvas.height = Math.max(1, Math.round(picture.height * scale))
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
  return canvas.toDataURL('image/png').replace(/^[^,]*,/, '')
}
