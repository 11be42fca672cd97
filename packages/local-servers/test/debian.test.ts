import { installDebianPackage } from '../src'

const { PONTE_INSTALL } = process.env
afterEach(() => {
  if (PONTE_INSTALL === undefined) delete process.env.PONTE_INSTALL
  else process.env.PONTE_INSTALL = PONTE_INSTALL
})

describe('a Debian package that a test needs', () => {
  it('is not installed where that is forbidden; the error names the command', async () => {
    process.env.PONTE_INSTALL = 'no'
    await expect(installDebianPackage('ponte-none', 'this test')).rejects.toThrow(
      /ponte-none is not installed, and this test needs it\. (Run: (sudo )?apt-get install ponte-none|Install it with)/,
    )
  })
})
