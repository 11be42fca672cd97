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
  onSite: 'Button for your site',
  button: 'Button',
  buttonText: 'Paste it where the button goes. No cookies, and nothing but this script is loaded until someone clicks.',
  anchor: 'Plain link',
  anchorText: 'Where a site takes no scripts, a plain link leads to the same page.',
  pay: 'Pay with USDC',
  missing: 'There is no such link.',
}
