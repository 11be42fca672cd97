// EIP-7702. Such an account is its key's on every chain.
const DELEGATED = '0xef0100'

const contractCode = (code: string) => (code.startsWith(DELEGATED) ? '0x' : code)

/**
 * Why money must not be swept to a payout address on another chain than its merchant named it for, by the code that stands there on both; null
 * when it may be. An account has its address on every chain. A contract has to be put there, and what is at its address elsewhere may be
 * missing or another owner's.
 */
export function payoutRisk(homeCode: string, otherCode: string): string | null {
  const [home, other] = [contractCode(homeCode), contractCode(otherCode)]
  if (home === other) return null
  if (other === '0x') return 'the payout address is a contract that does not exist on this chain'
  return home === '0x'
    ? 'the payout address is an account at home and a contract here'
    : 'another contract stands at the payout address here'
}
