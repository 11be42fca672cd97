import { paymentRouterAbi, permitTypedData, testUsdcAbi } from '@ponte/payment-router'
import { Interface, Signature, TypedDataEncoder, toBeHex, Wallet } from 'ethers'
import * as calls from './calls'
import { typedPermit } from './typed-permit'

const router = new Interface(paymentRouterAbi)
const token = new Interface(testUsdcAbi)
const memo = '0a'.repeat(32)
const merchant = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const payer = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const of = { memo, merchant, amount: 27_675_277n }

test('every call is what the contracts understand', () => {
  expect(calls.pay(of)).toBe(router.encodeFunctionData('pay', [`0x${memo}`, merchant, of.amount]))
  const salt = calls.saltOf({ usdc_amount: '27.675277', payments: [] }, payer)
  expect(calls.authorizationNonce(memo, merchant, salt)).toBe(
    router.encodeFunctionData('authorizationNonce', [`0x${memo}`, merchant, toBeHex(of.amount, 32)]),
  )
  expect(calls.balanceOf(payer)).toBe(token.encodeFunctionData('balanceOf', [payer]))
  expect(calls.allowance(payer, merchant)).toBe(token.encodeFunctionData('allowance', [payer, merchant]))
  expect(calls.nonces(payer)).toBe(token.encodeFunctionData('nonces', [payer]))
  expect(calls.tokenName).toBe(token.encodeFunctionData('name'))
  expect(calls.tokenVersion).toBe(token.encodeFunctionData('version'))
  expect(calls.approve(merchant, 1n)).toBe(token.encodeFunctionData('approve', [merchant, 1n]))
})

test('a signature has another salt only once the router has taken a payment of its account', () => {
  const payment = { tx_hash: `0x${'ab'.repeat(32)}`, amount: '1.000000', block_number: 1, block_time: '2026-11-20T12:00:00.000Z' }
  const settlement = { status: 'pending', tx_hash: null } as const
  const made = { ...payment, settlement, kind: 'router', status: 'detected', payer_address: payer.toLowerCase() } as const
  const others = [
    { ...made, kind: 'transfer' },
    { ...made, payer_address: merchant },
    { ...made, payer_address: null },
    { ...made, status: 'orphaned' },
  ] as const
  const saltAfter = (...payments: Parameters<typeof calls.saltOf>[0]['payments']) =>
    BigInt(calls.saltOf({ usdc_amount: '27.675277', payments }, payer))
  expect([saltAfter(), saltAfter(...others), saltAfter(...others, made), saltAfter(made, made)]).toEqual([
    of.amount,
    of.amount,
    of.amount + 1n,
    of.amount + 2n,
  ])
})

test('a permit is signed and carried as the token checks it', async () => {
  const wallet = Wallet.createRandom()
  const terms = {
    chainId: 31_337,
    usdcAddress: merchant,
    owner: payer,
    spender: merchant,
    value: of.amount,
    nonce: 3n,
    deadline: 1_900_000_000n,
  }
  const theirs = permitTypedData(terms)
  const message = { owner: payer, spender: merchant, value: '27675277', nonce: '3', deadline: '1900000000' }
  const { domain, types } = typedPermit({ name: 'USD Coin', version: '2', chainId: 31_337, verifyingContract: merchant }, message)
  const signature = await wallet.signTypedData(domain, { Permit: types.Permit }, message)
  expect(TypedDataEncoder.hash(domain, { Permit: types.Permit }, message)).toBe(
    TypedDataEncoder.hash(theirs.domain, theirs.types, theirs.message),
  )
  const { v, r, s } = Signature.from(signature)
  const encoded = router.encodeFunctionData('payWithPermit', [`0x${memo}`, merchant, of.amount, terms.deadline, v, r, s])
  expect(calls.payWithPermit(of, terms.deadline, signature)).toBe(encoded)
  // Some wallets count v from 0.
  expect(calls.payWithPermit(of, terms.deadline, `${signature.slice(0, -2)}0${v - 27}`)).toBe(encoded)
  expect(() => calls.payWithPermit(of, terms.deadline, '0x1234')).toThrow(TypeError)
})

test('answers are read, and no answer is noticed', () => {
  expect(calls.readText(token.encodeFunctionResult('name', ['USD Coin']))).toBe('USD Coin')
  expect(calls.readWord(token.encodeFunctionResult('balanceOf', [42n]))).toBe(42n)
  expect(() => calls.readWord('0x')).toThrow(TypeError)
  expect(() => calls.readText('0x')).toThrow(TypeError)
})
