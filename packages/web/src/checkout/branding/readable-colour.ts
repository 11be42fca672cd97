/** A colour as red, green and blue, each 0 to 255. */
type Rgb = readonly [number, number, number]

const WHITE: Rgb = [255, 255, 255]
const BLACK: Rgb = [0, 0, 0]
const STEPS = 40
/** WCAG 2.2 AA for text. */
export const CONTRAST_MIN = 4.5

/** `#rrggbb`, or `#rgb`, to which the build shortens the colours of a style. */
function parse(hex: string): Rgb {
  const whole = hex.length === 4 ? hex.replace(/[0-9a-f]/gi, '$&$&') : hex
  return [1, 3, 5].map(at => Number.parseInt(whole.slice(at, at + 2), 16)) as unknown as Rgb
}
const format = (rgb: Rgb): string => `#${rgb.map(part => Math.round(part).toString(16).padStart(2, '0')).join('')}`
const mix = (from: Rgb, to: Rgb, share: number): Rgb => from.map((part, n) => part + ((to[n] ?? 0) - part) * share) as unknown as Rgb

function luminance(rgb: Rgb): number {
  const [red = 0, green = 0, blue = 0] = rgb.map(part => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Contrast of two colours by WCAG, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [a, b] = [luminance(parse(one)), luminance(parse(other))]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

/** The colour, or the nearest darker or lighter one that can be read on each of these backgrounds. */
export function readableOn(hex: string, backgrounds: readonly string[]): string {
  const [first = '#ffffff'] = backgrounds
  const towards = luminance(parse(first)) > 0.18 ? BLACK : WHITE
  for (let step = 0; step < STEPS; step++) {
    const candidate = format(mix(parse(hex), towards, step / STEPS))
    if (backgrounds.every(background => contrast(candidate, background) >= CONTRAST_MIN)) return candidate
  }
  return format(towards)
}

/** Whichever of white and near-black is read better on this colour. */
export const textOn = (hex: string): string => (contrast(hex, '#ffffff') >= contrast(hex, '#0e1311') ? '#ffffff' : '#0e1311')
