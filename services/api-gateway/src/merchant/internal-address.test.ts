import { namesInternalAddress } from './internal-address'

test.each([
  'http://localhost/hook',
  'http://LOCALHOST.:8080/',
  'http://shop.localhost/',
  'http://127.0.0.1/',
  'http://127.1/',
  'http://0x7f000001/',
  'http://2130706433/',
  'http://0/',
  'http://10.255.255.255/',
  'http://100.64.0.1/',
  'http://100.127.255.255/',
  'http://169.254.169.254/',
  'http://172.16.0.0/',
  'http://172.31.255.255/',
  'http://192.168.0.1/',
  'http://198.19.255.255/',
  'http://168.63.129.16/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[::7f00:1]/',
  'http://[fd00::1]/',
  'http://[fe80::1]/',
  'http://[2002:7f00:1::]/',
  'http://[2001::1]/',
])('delivery rule 6: %s is internal by its own text', url => {
  expect(namesInternalAddress(new URL(url))).toBe(true)
})

test.each([
  'https://example.com/hook',
  'http://8.8.8.8/',
  'http://9.255.255.255/',
  'http://11.0.0.0/',
  'http://100.63.255.255/',
  'http://100.128.0.0/',
  'http://172.15.255.255/',
  'http://172.32.0.0/',
  'http://192.167.255.255/',
  'http://192.169.0.0/',
  'http://198.17.255.255/',
  'http://198.20.0.0/',
  'http://223.255.255.255/',
  'http://[2606:4700::1111]/',
  'http://[::ffff:8.8.8.8]/',
  'http://10.0.0.1.example.com/',
])('%s is not', url => {
  expect(namesInternalAddress(new URL(url))).toBe(false)
})
