import { useEffect, useState } from 'react'

/** EIP-1193, as far as a payment needs it. */
export interface Provider {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>
  on?(event: string, listener: (change: unknown) => void): unknown
  removeListener?(event: string, listener: (change: unknown) => void): unknown
}

export interface Wallet {
  name: string
  /** A data: URL that the wallet announced, or null. */
  icon: string | null
  provider: Provider
}

interface Announcement extends Event {
  detail?: { info?: { rdns?: string; uuid?: string; name?: string; icon?: string }; provider?: Provider }
}

const injected = (): Wallet | null => {
  const ethereum: unknown = Reflect.get(window, 'ethereum')
  return isProvider(ethereum) ? { name: nameOf(ethereum), icon: null, provider: ethereum } : null
}

const isProvider = (thing: unknown): thing is Provider =>
  typeof thing === 'object' && thing !== null && typeof Reflect.get(thing, 'request') === 'function'

const nameOf = (provider: object): string => (Reflect.get(provider, 'isMetaMask') === true ? 'MetaMask' : '')

/** The wallets of this browser: those that announce themselves (EIP-6963), else the one at `window.ethereum`. */
export function useWallets(): Wallet[] {
  const [wallets, setWallets] = useState<Wallet[]>(() => [injected()].filter(wallet => wallet !== null))
  useEffect(() => {
    const announced = new Map<string, Wallet>()
    const receive = (event: Announcement) => {
      const { info, provider } = event.detail ?? {}
      if (!isProvider(provider)) return
      const icon = info?.icon?.startsWith('data:image/') ? info.icon : null
      announced.set(info?.rdns ?? info?.uuid ?? '', { name: info?.name?.slice(0, 40) ?? '', icon, provider })
      setWallets([...announced.values()])
    }
    window.addEventListener('eip6963:announceProvider', receive)
    window.dispatchEvent(new Event('eip6963:requestProvider'))
    return () => window.removeEventListener('eip6963:announceProvider', receive)
  }, [])
  return wallets
}
