import type { sharePt } from './share-pt'

export const shareEn: typeof sharePt = {
  share: 'Share',
  shareOf: name => `Share: ${name}`,
  scan: 'QR code of the link',
  send: 'Send by…',
  whatsApp: 'WhatsApp',
  png: 'QR as PNG',
  svg: 'QR as SVG',
  print: 'Print',
  toPrint: 'Page to print',
  message: (shop, what, amount) => `${shop}: ${what}, ${amount}. Pay here:`,
  scanToPay: 'Point the camera of your phone at it to pay',
  due: day => `Due: ${day}`,
  paidIn: 'The price is in reais, and is paid in USDC.',
  missing: 'There is no such link.',
}
