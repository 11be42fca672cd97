import { createExpiryWatch } from './expiry-watch'

const network = (chainId: number, confirmed: number, read: number) => ({
  chainId,
  confirmedTime: async () => confirmed,
  readTime: async () => read,
})
const expired = async () => [1, 2].map(chain_id => ({ id: 'a', ends: '100', chain_id }))

it.each([
  ['each network is confirmed and read past the end', [101, 101], [101, 101], 0],
  ['one is confirmed to the end itself', [101, 101], [100, 100], 1],
  ['one is confirmed past the end and not read', [101, 100], [101, 101], 1],
])('%s', async (_, [confirmed = 0, read = 0], [otherConfirmed = 0, otherRead = 0], wrong) => {
  const watch = createExpiryWatch(expired, [network(1, confirmed, read), network(2, otherConfirmed, otherRead)])
  await watch.look()
  expect(watch.wrong).toHaveLength(wrong)
})
