import { payoutRisk } from './payout-risk'

const [SAFE, OTHER, DELEGATED] = ['0x6080aa', '0x6080bb', `0xef0100${'11'.repeat(20)}`]

it.each([
  ['0x', '0x'],
  [SAFE, SAFE],
  [DELEGATED, '0x'],
  ['0x', DELEGATED],
])('%s at home and %s there is the same owner', (home, there) => {
  expect(payoutRisk(home, there)).toBeNull()
})

it.each([
  [SAFE, '0x', 'does not exist on this chain'],
  [SAFE, DELEGATED, 'does not exist on this chain'],
  [SAFE, OTHER, 'another contract'],
  ['0x', OTHER, 'an account at home'],
])('%s at home and %s there may be another owner', (home, there, why) => {
  expect(payoutRisk(home, there)).toContain(why)
})
