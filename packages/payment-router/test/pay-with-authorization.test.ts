import { type LocalChain, mined, startLocalChain } from '@ponte/local-servers'
import { AbiCoder, type BaseWallet, keccak256, Wallet, ZeroAddress, ZeroHash } from 'ethers'
import { authorizationNonce, deployContractWallet, receiveWithAuthorizationTypedData } from '../src'
import {
  balances,
  deployRouterFor,
  deployUnrulyToken,
  payments,
  printGas,
  randomAddress,
  randomMemo,
  refusal,
  routerOf,
  send,
  usdcOf,
} from './observe'

const AMOUNT = 1_000_000n
const FOREVER = 2n ** 64n

let chain: LocalChain
let relayer: Wallet
// These payers own no native coin and never will.
const payer = Wallet.createRandom()
beforeAll(async () => {
  chain = await startLocalChain()
  relayer = chain.wallet(2)
  await mined(chain.mintUsdc(payer.address, 100n * AMOUNT))
})
afterAll(() => chain.stop())

interface Terms {
  memo: string
  merchant: string
  amount: bigint
  payer: string
  validAfter: bigint
  validBefore: bigint
  salt: string
  router: string
  usdcAddress: string
}

function termsOf(changes: Partial<Terms> = {}): Terms {
  const { routerAddress: router, usdcAddress } = chain
  const fresh = { memo: randomMemo(), merchant: randomAddress(), amount: AMOUNT, payer: payer.address, router, usdcAddress }
  return { ...fresh, validAfter: 0n, validBefore: FOREVER, salt: randomMemo(), ...changes }
}

async function sign(terms: Terms, signer: BaseWallet = payer): Promise<string> {
  const { domain, types, message } = receiveWithAuthorizationTypedData({ chainId: chain.chainId, ...terms })
  return signer.signTypedData(domain, types, message)
}

const call = (terms: Terms, signature: string) =>
  [
    'payWithAuthorization',
    terms.memo,
    terms.merchant,
    terms.amount,
    terms.payer,
    terms.validAfter,
    terms.validBefore,
    terms.salt,
    signature,
  ] as const

describe('payWithAuthorization', () => {
  it('pays for a payer who owns no native coin, whichever account submits it', async () => {
    const terms = termsOf()
    const receipt = await send(routerOf(chain, relayer), ...call(terms, await sign(terms)))
    expect(payments(receipt)).toEqual([[terms.memo, terms.merchant, payer.address, 990_000n, 10_000n]])
    expect(await balances(chain, terms.merchant, chain.routerAddress)).toEqual([990_000n, 0n])
    const next = termsOf({ merchant: terms.merchant })
    printGas('payWithAuthorization', await send(routerOf(chain, relayer), ...call(next, await sign(next))))
  })

  it.each<[string, () => Partial<Terms>]>([
    ['another merchant', () => ({ merchant: randomAddress() })],
    ['another memo', () => ({ memo: randomMemo() })],
    ['another salt', () => ({ salt: randomMemo() })],
    ['a larger amount', () => ({ amount: AMOUNT + 1n })],
    ['a smaller amount', () => ({ amount: AMOUNT - 1n })],
    ['another payer', () => ({ payer: relayer.address })],
    ['a longer validity', () => ({ validBefore: FOREVER + 1n })],
  ])('cannot be redirected to %s', async (_, change) => {
    const terms = termsOf()
    const reason = await refusal(routerOf(chain, relayer), ...call({ ...terms, ...change() }, await sign(terms)))
    expect(reason).toEqual(['FiatTokenV2: invalid signature'])
  })

  it('cannot be taken to another router, nor to the token itself', async () => {
    const terms = termsOf()
    const signature = await sign(terms)
    const other = await deployRouterFor(chain, { feeBps: 1_000 })
    expect(await refusal(routerOf(chain, relayer, other), ...call(terms, signature))).toEqual(['FiatTokenV2: invalid signature'])
    const nonce = authorizationNonce(terms.memo, terms.merchant, terms.salt)
    const direct = [payer.address, chain.routerAddress, AMOUNT, 0n, FOREVER, nonce, signature]
    const form = '(address,address,uint256,uint256,uint256,bytes32,bytes)'
    const usdc = usdcOf(chain, relayer)
    expect(await refusal(usdc, `receiveWithAuthorization${form}`, ...direct)).toEqual(['FiatTokenV2: caller must be the payee'])
    expect(await refusal(usdc, `transferWithAuthorization${form}`, ...direct)).toEqual(['FiatTokenV2: invalid signature'])
  })

  it('tops up the same order by another signature of the same payer, with another salt', async () => {
    const first = termsOf()
    const second = { ...first, salt: randomMemo(), amount: AMOUNT / 2n }
    for (const terms of [first, second]) await send(routerOf(chain, relayer), ...call(terms, await sign(terms)))
    expect(await balances(chain, first.merchant)).toEqual([990_000n + 495_000n])
  })

  it('works once', async () => {
    const terms = termsOf()
    const signature = await sign(terms)
    await send(routerOf(chain, relayer), ...call(terms, signature))
    expect(await refusal(routerOf(chain, relayer), ...call(terms, signature))).toEqual(['FiatTokenV2: authorization is used or canceled'])
  })

  it('can be cancelled by the payer, and by no one else', async () => {
    const terms = termsOf()
    const nonce = authorizationNonce(terms.memo, terms.merchant, terms.salt)
    const { domain } = receiveWithAuthorizationTypedData({ chainId: chain.chainId, ...terms })
    const types = {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    }
    const message = { authorizer: payer.address, nonce }
    const forged = await relayer.signTypedData(domain, types, message)
    const usdc = usdcOf(chain, relayer)
    expect(await refusal(usdc, 'cancelAuthorization', payer.address, nonce, forged)).toEqual(['FiatTokenV2: invalid signature'])
    await send(usdc, 'cancelAuthorization', payer.address, nonce, await payer.signTypedData(domain, types, message))
    const reason = await refusal(routerOf(chain, relayer), ...call(terms, await sign(terms)))
    expect(reason).toEqual(['FiatTokenV2: authorization is used or canceled'])
  })

  it.each<[string, () => Partial<Terms>, string]>([
    ['too late', () => ({ validBefore: 1n }), 'FiatTokenV2: authorization is expired'],
    ['too early', () => ({ validAfter: FOREVER }), 'FiatTokenV2: authorization is not yet valid'],
    ['with nonsense for a signature', () => ({}), 'FiatTokenV2: invalid signature'],
  ])('refuses one submitted %s', async (_, change, expected) => {
    const terms = termsOf(change())
    const signature = expected.includes('signature') ? '0x1234' : await sign(terms)
    expect(await refusal(routerOf(chain, relayer), ...call(terms, signature))).toEqual([expected])
  })

  it('fails as a whole when the payer has too little', async () => {
    const poor = Wallet.createRandom()
    const terms = termsOf({ payer: poor.address })
    const reason = await refusal(routerOf(chain, relayer), ...call(terms, await sign(terms, poor)))
    expect(reason).toEqual(['ERC20InsufficientBalance', poor.address, 0n, AMOUNT])
  })

  it.each([
    ['a zero memo', { memo: ZeroHash }, ['ZeroMemo']],
    ['a zero amount', { amount: 0n }, ['ZeroAmount']],
    ['a zero merchant', { merchant: ZeroAddress }, ['InvalidMerchant', ZeroAddress]],
  ])('refuses %s, although it was signed', async (_, change, expected) => {
    const terms = termsOf(change)
    const { domain, types, message } = receiveWithAuthorizationTypedData({ chainId: chain.chainId, ...termsOf() })
    const nonce = keccak256(AbiCoder.defaultAbiCoder().encode(['bytes32', 'address', 'bytes32'], [terms.memo, terms.merchant, terms.salt]))
    const signature = await payer.signTypedData(domain, types, { ...message, value: terms.amount, nonce })
    expect(await refusal(routerOf(chain, relayer), ...call(terms, signature))).toEqual(expected)
  })

  it('lets a merchant pay itself', async () => {
    const terms = termsOf({ merchant: payer.address })
    expect(payments(await send(routerOf(chain, relayer), ...call(terms, await sign(terms))))).toHaveLength(1)
  })

  it('takes the signature of a wallet that is a contract', async () => {
    const wallet = await deployContractWallet(chain, payer.address)
    await mined(chain.mintUsdc(wallet, AMOUNT))
    const terms = termsOf({ payer: wallet })
    const receipt = await send(routerOf(chain, relayer), ...call(terms, await sign(terms)))
    expect(payments(receipt)).toEqual([[terms.memo, terms.merchant, wallet, 990_000n, 10_000n]])
  })

  it('refuses a token whose transfers arrive short', async () => {
    const token = await deployUnrulyToken(chain, 100)
    const router = await deployRouterFor(chain, { usdcAddress: await token.getAddress() })
    await send(token, 'mint', payer.address, AMOUNT)
    expect(await refusal(routerOf(chain, relayer, router), ...call(termsOf(), '0x'))).toEqual(['ShortTransfer', AMOUNT, 990_000n])
  })
})
