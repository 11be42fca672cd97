import { signatureEnd } from './signature-end'

test.each([
  ['an hour from now', { expiresAt: 9_000n, failed: null }, 4_600n],
  ['the end of the order, when that comes first', { expiresAt: 2_000n, failed: null }, 2_000n],
  ['another second than that of the signature that failed', { expiresAt: 2_000n, failed: 2_000n }, 1_999n],
  ['the end of the order again, when the last signature ended before it', { expiresAt: 2_000n, failed: 1_999n }, 2_000n],
  ['nothing, when it could end before it is mined', { expiresAt: 1_089n, failed: null }, null],
  ['nothing, when only the second of the failed one is left', { expiresAt: 1_090n, failed: 1_090n }, null],
])('a signature ends at %s', (_, times, end) => {
  expect(signatureEnd({ blockTime: 1_000n, ...times })).toBe(end)
})
