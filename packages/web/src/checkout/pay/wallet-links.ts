/** A device whose wallets are apps and whose own screen cannot be scanned. */
export const isPhone = (): boolean => window.matchMedia('(pointer: coarse)').matches

/** Links that open a page in the browser of a phone's wallet, in the form that each wallet publishes. */
export function walletLinks(page: string): { name: string; href: string }[] {
  const encoded = encodeURIComponent(page)
  return [
    { name: 'MetaMask', href: `https://metamask.app.link/dapp/${page.replace(/^https?:\/\//, '')}` },
    { name: 'Trust Wallet', href: `https://link.trustwallet.com/open_url?coin_id=60&url=${encoded}` },
    { name: 'Coinbase Wallet', href: `https://go.cb-w.com/dapp?cb_url=${encoded}` },
  ]
}
