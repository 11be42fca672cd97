/** `address from, uint256 value` as EIP-712 names them. */
export const fieldsOf = (text: string) =>
  text.split(', ').map(field => ({ type: field.split(' ')[0] ?? '', name: field.split(' ')[1] ?? '' }))

/** The EIP-2612 permit in the form that `eth_signTypedData_v4` takes. */
export function typedPermit(domain: { name: string; version: string; chainId: number; verifyingContract: string }, message: object) {
  return {
    types: {
      EIP712Domain: fieldsOf('string name, string version, uint256 chainId, address verifyingContract'),
      Permit: fieldsOf('address owner, address spender, uint256 value, uint256 nonce, uint256 deadline'),
    },
    primaryType: 'Permit',
    domain,
    message,
  }
}
