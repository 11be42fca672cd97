const explorers: Record<number, string> = {
  1: 'https://etherscan.io',
  10: 'https://optimistic.etherscan.io',
  137: 'https://polygonscan.com',
  8453: 'https://basescan.org',
  42161: 'https://arbiscan.io',
  84532: 'https://sepolia.basescan.org',
  11155111: 'https://sepolia.etherscan.io',
}

/** Where a person can look a transaction up; null on networks that nobody shows, such as a local one. */
export function transactionUrl(chainId: number, hash: string): string | null {
  const explorer = explorers[chainId]
  return explorer ? `${explorer}/tx/${hash}` : null
}
