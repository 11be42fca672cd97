/** Public facts of a network: enough for a wallet to learn it, and for a person to look a transaction up. */
export interface Network {
  chainName: string
  nativeCurrency: { name: string; symbol: string; decimals: number }
  rpcUrls: [string]
  blockExplorerUrls: [string]
}

const network = (chainName: string, rpc: string, explorer: string, symbol = 'ETH', name = 'Ether'): Network => ({
  chainName,
  nativeCurrency: { name, symbol, decimals: 18 },
  rpcUrls: [rpc],
  blockExplorerUrls: [explorer],
})

/** In the form of `wallet_addEthereumChain` (EIP-3085). The page itself asks none of these addresses anything. */
export const networks: Record<number, Network> = {
  1: network('Ethereum', 'https://ethereum-rpc.publicnode.com', 'https://etherscan.io'),
  10: network('OP Mainnet', 'https://mainnet.optimism.io', 'https://optimistic.etherscan.io'),
  137: network('Polygon', 'https://polygon-rpc.com', 'https://polygonscan.com', 'POL', 'POL'),
  8453: network('Base', 'https://mainnet.base.org', 'https://basescan.org'),
  42161: network('Arbitrum One', 'https://arb1.arbitrum.io/rpc', 'https://arbiscan.io'),
  84532: network('Base Sepolia', 'https://sepolia.base.org', 'https://sepolia.basescan.org'),
  11155111: network('Sepolia', 'https://ethereum-sepolia-rpc.publicnode.com', 'https://sepolia.etherscan.io'),
}

/** As the public knows it; else as the deployment names it. */
export const networkName = (chainId: number, named: string): string => networks[chainId]?.chainName ?? named

/** Where a person can look a transaction up; null on networks without an explorer, such as a local one. */
export function transactionUrl(chainId: number, hash: string): string | null {
  const [explorer] = networks[chainId]?.blockExplorerUrls ?? []
  return explorer ? `${explorer}/tx/${hash}` : null
}
