/** The EIP-2612 permit in the form that `eth_signTypedData_v4` takes. */
export function typedPermit(domain: { name: string; version: string; chainId: number; verifyingContract: string }, message: object) {
  const fields = (text: string) => text.split(', ').map(field => ({ type: field.split(' ')[0] ?? '', name: field.split(' ')[1] ?? '' }))
  return {
    types: {
      EIP712Domain: fields('string name, string version, uint256 chainId, address verifyingContract'),
      Permit: fields('address owner, address spender, uint256 value, uint256 nonce, uint256 deadline'),
    },
    primaryType: 'Permit',
    domain,
    message,
  }
}
