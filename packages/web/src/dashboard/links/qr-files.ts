import { drawQr } from '../../qr-code'

const PRINTED_PX = 1_024
/** More of the quiet zone than on a page, which is light around the code: four modules in all, as ISO/IEC 18004 has it. */
const QUIET = 2

/** A QR code for leaflets, which stays sharp at any size. */
export async function qrSvg(text: string): Promise<Blob> {
  const { path, size } = await drawQr(text)
  const side = size + 2 * QUIET
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-${QUIET} -${QUIET} ${side} ${side}" width="${PRINTED_PX}" height="${PRINTED_PX}" shape-rendering="crispEdges"><path fill="#fff" d="M-${QUIET}-${QUIET}h${side}v${side}h-${side}z"/><path d="${path}"/></svg>`
  return new Blob([svg], { type: 'image/svg+xml' })
}

/** The same in pixels: each module is a whole number of them. */
export async function qrPng(text: string): Promise<Blob> {
  const { path, size } = await drawQr(text)
  const side = size + 2 * QUIET
  const scale = Math.ceil(PRINTED_PX / side)
  const canvas = Object.assign(document.createElement('canvas'), { width: side * scale, height: side * scale })
  const context = canvas.getContext('2d')
  if (!context) throw new Error('This browser draws no pictures.')
  context.fillStyle = '#fff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.scale(scale, scale)
  context.translate(QUIET, QUIET)
  context.fillStyle = '#000'
  context.fill(new Path2D(path))
  return new Promise((resolve, reject) =>
    canvas.toBlob(blob => (blob ? resolve(blob) : reject(new Error('The picture could not be made.'))), 'image/png'),
  )
}
