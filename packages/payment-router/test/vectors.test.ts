import { TypedDataEncoder, ZeroAddress } from 'ethers'
import { authorizationNonce, depositAddress, PAYMENT_RECEIVED_TOPIC, permitTypedData, receiveWithAuthorizationTypedData } from '../src'
import { depositCodeHash, depositImplementation } from '../src/deposit-address'

// Made by a Keccak-256 and encodings written from their specifications, with nothing of ethers, OpenZeppelin or the Solidity compiler.
// forge/RouterRules.t.sol has the same.
const memo = 'a3'.repeat(32)
const merchant = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const payer = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const router = `0x${'11'.repeat(20)}`
const salt = `0x${(27_675_277).toString(16).padStart(64, '0')}`
const token = { chainId: 8_453, usdcAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' }

it('nonce, deposit address and event are what they were computed to be elsewhere', () => {
  expect(authorizationNonce(memo, merchant, salt)).toBe('0xdb10e84acc6603fc6e4ccc5379ae002741914005499791e154a76139357d1a3f')
  expect(depositImplementation(router).toLowerCase()).toBe('0x15452ec016c4dc8c549e7fe6ff4b26324ea8b7a4')
  expect(depositCodeHash(router)).toBe('0x6da85f572867cb3e57ac2567926f6738956e626585f7347cdb400cd10658844b')
  expect(depositAddress({ router, memo, merchant }).toLowerCase()).toBe('0x09bf7974fa1b6b39a68ffb369fe0bae7920ccc40')
  expect(PAYMENT_RECEIVED_TOPIC).toBe('0x02f3d9206e8324bff80077e5b30cb225397f8f786dab7c68cc4e58491eaac44f')
})

it('so is what a payer signs', () => {
  const of = { ...token, router, memo, merchant, payer, salt }
  const authorization = receiveWithAuthorizationTypedData({ ...of, amount: 27_675_277n, validBefore: 1_795_000_000n })
  const permit = permitTypedData({ ...token, owner: payer, spender: router, value: 27_675_277n, nonce: 3n, deadline: 1_795_000_000n })
  expect(TypedDataEncoder.hashDomain(permit.domain)).toBe('0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f')
  const digest = (typed: typeof authorization | typeof permit) => TypedDataEncoder.hash(typed.domain, typed.types, typed.message)
  expect(digest(authorization)).toBe('0x6f1bfa075ee192adfb6899f470b0e275c8bd33611b1698d8c1a4d9a592f2c6a1')
  expect(digest(permit)).toBe('0xba5c852577e0343a498122cf7a554388a709e3749924bdbed1a5c71f33421ead')
})

it('a salt or memo of another form is refused', () => {
  for (const wrong of ['0x12', salt.slice(2), `0x${'g'.repeat(64)}`])
    expect(() => authorizationNonce(memo, merchant, wrong)).toThrow(TypeError)
  expect(() => authorizationNonce('0'.repeat(64), merchant, salt)).toThrow(TypeError)
  expect(() => authorizationNonce(memo, ZeroAddress, salt)).toThrow(TypeError)
})
