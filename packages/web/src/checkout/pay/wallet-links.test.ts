import { walletLinks } from './wallet-links'

test('a page opens in each wallet by the link of that wallet', () => {
  expect(walletLinks('https://pay.example/pay/01981f3c?x=1&y=2')).toEqual([
    { name: 'MetaMask', href: 'https://metamask.app.link/dapp/pay.example/pay/01981f3c?x=1&y=2' },
    {
      name: 'Trust Wallet',
      href: 'https://link.trustwallet.com/open_url?coin_id=60&url=https%3A%2F%2Fpay.example%2Fpay%2F01981f3c%3Fx%3D1%26y%3D2',
    },
    { name: 'Coinbase Wallet', href: 'https://go.cb-w.com/dapp?cb_url=https%3A%2F%2Fpay.example%2Fpay%2F01981f3c%3Fx%3D1%26y%3D2' },
  ])
})
