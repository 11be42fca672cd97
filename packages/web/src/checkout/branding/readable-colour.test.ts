import fc from 'fast-check'
import { CONTRAST_MIN, contrast, readableOn, textOn } from './readable-colour'

const colour = fc.integer({ min: 0, max: 0xffffff }).map(number => `#${number.toString(16).padStart(6, '0')}`)
const light = ['#ffffff', '#f9f8f5', '#f5f4ef']
const dark = ['#161c19', '#121815', '#0e1311']

test('contrast is that of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2)
})

test('a colour that can be read stays as it is', () => {
  expect(readableOn('#0e6b54', light)).toBe('#0e6b54')
  expect(readableOn('#55c8a3', dark)).toBe('#55c8a3')
})

test('a background is read as the build writes it', () => {
  expect(readableOn('#7a1fa2', ['#fff', '#f9f8f5', '#f5f4ef'])).toBe('#7a1fa2')
  expect(contrast('#000', '#fff')).toBeCloseTo(21)
})

test('every colour becomes one that can be read on light and on dark, and so does the text on it', () => {
  fc.assert(
    fc.property(colour, hex => {
      for (const backgrounds of [light, dark]) {
        const accent = readableOn(hex, backgrounds)
        for (const background of backgrounds) expect(contrast(accent, background)).toBeGreaterThanOrEqual(CONTRAST_MIN)
        expect(contrast(accent, textOn(accent))).toBeGreaterThanOrEqual(CONTRAST_MIN)
      }
    }),
  )
})
