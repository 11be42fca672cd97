// Breaks the contracts in one place at a time and demands that a test of forge/ notices. `node scripts/mutants.mjs [name …]`
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { forge } from './forge.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Name, file, what is there (once), and what is put in its place. */
const mutants = [
  ['the fee is rounded up', 'PaymentRouter', 'fee = (amount * feeBps) / 10_000;', 'fee = (amount * feeBps + 9_999) / 10_000;'],
  [
    'pay charges the fee on top',
    'PaymentRouter',
    'token.safeTransferFrom(msg.sender, merchant, share);',
    'token.safeTransferFrom(msg.sender, merchant, share + fee);',
  ],
  ['pay skips the fee', 'PaymentRouter', 'if (fee != 0) token.safeTransferFrom(msg.sender, feeReceiver, fee);', ''],
  [
    'a strange permit stops a payment',
    'PaymentRouter',
    'deadline, v, r, s) {} catch {}',
    'deadline, v, r, s) {} catch { revert OutOfGas(); }',
  ],
  [
    'the nonce leaves out the merchant',
    'PaymentRouter',
    'keccak256(abi.encode(memo, merchant, salt))',
    'keccak256(abi.encode(memo, salt))',
  ],
  [
    'the nonce leaves out the memo',
    'PaymentRouter',
    'keccak256(abi.encode(memo, merchant, salt))',
    'keccak256(abi.encode(merchant, salt))',
  ],
  [
    'the nonce leaves out the salt',
    'PaymentRouter',
    'keccak256(abi.encode(memo, merchant, salt))',
    'keccak256(abi.encode(memo, merchant))',
  ],
  [
    'a signed payment takes strays along',
    'PaymentRouter',
    'token.safeTransfer(merchant, share);',
    'token.safeTransfer(merchant, token.balanceOf(address(this)));',
  ],
  ['what the token collected is not checked', 'PaymentRouter', '_requireGrowth(address(this), balance, amount);', 'balance;'],
  [
    'what the merchant got is not checked',
    'PaymentRouter',
    '_requireGrowth(merchant, balance, share);\n        emit PaymentReceived(memo, merchant, deposit',
    'emit PaymentReceived(memo, merchant, deposit',
  ],
  [
    'pay can be entered again',
    'PaymentRouter',
    'function pay(bytes32 memo, address merchant, uint256 amount) external nonReentrant',
    'function pay(bytes32 memo, address merchant, uint256 amount) external',
  ],
  [
    'rescue can be entered in the middle',
    'PaymentRouter',
    'function rescue(address asset) external nonReentrant',
    'function rescue(address asset) external',
  ],
  [
    'rescue pays its caller',
    'PaymentRouter',
    'else IERC20(asset).safeTransfer(feeReceiver, amount);',
    'else IERC20(asset).safeTransfer(msg.sender, amount);',
  ],
  ['a sweep reports the fee that was due', 'PaymentRouter', 'fee = DepositAddress(deposit).release', 'DepositAddress(deposit).release'],
  [
    'the deposit address leaves out the merchant',
    'PaymentRouter',
    'keccak256(abi.encode(memo, merchant));',
    'keccak256(abi.encode(memo, address(0)));\n        merchant;',
  ],
  ['a batch hides that it ran out of gas', 'PaymentRouter', 'if (gasleft() < gas / 8) revert OutOfGas();', 'gas;'],
  // A sixteenth is the same to a token that is one proxy deep: five calls leave at most 5/64 behind, and what runs before them takes the rest of it.
  ['a batch takes a 32nd left for enough', 'PaymentRouter', 'gas / 8', 'gas / 32'],
  ['a recovery is not reported', 'PaymentRouter', 'emit Recovered(memo, merchant, asset, amount);', ''],
  ['a rescue is not reported', 'PaymentRouter', 'emit Rescued(asset, amount);', ''],
  ['a deployment is not reported', 'RouterFactory', 'emit Deployed(router, token_);', ''],
  [
    'recover takes the native coin that is the token',
    'PaymentRouter',
    'if (token.balanceOf(deposit) < balance) revert NotRecoverable(asset);',
    'balance;',
  ],
  ['the implementation may be a merchant', 'PaymentRouter', ' ||\n            merchant == address(depositImplementation)\n', '\n'],
  [
    'a deposit address may be a merchant',
    'PaymentRouter',
    'if (merchant.codehash == depositCodeHash) revert InvalidMerchant(merchant);',
    '',
  ],
  ['a zero memo is a memo', 'PaymentRouter', 'if (memo == 0) revert ZeroMemo();', ''],
  ['the implementation may take the fees', 'PaymentRouter', ' ||\n            feeReceiver_ == address(implementation)\n', '\n'],
  ['any fee will do', 'PaymentRouter', 'if (feeBps_ > MAX_FEE_BPS) revert FeeTooHigh(feeBps_);', ''],
  [
    'a deposit address obeys anyone who releases',
    'DepositAddress',
    ') external onlyRouter returns (uint256 taken)',
    ') external returns (uint256 taken)',
  ],
  [
    'a deposit address obeys anyone who recovers',
    'DepositAddress',
    'address merchant) external onlyRouter returns',
    'address merchant) external returns',
  ],
  [
    'a blocked fee receiver locks deposits in',
    'DepositAddress',
    'if (fee != 0 && token.trySafeTransfer(feeReceiver, fee)) taken = fee;',
    'if (fee != 0) token.safeTransfer(feeReceiver, fee);\n        taken = fee;',
  ],
  ['a deposit keeps the fee that was refused', 'DepositAddress', 'amount - taken', 'amount - fee'],
  [
    'a sweep can be entered again',
    'PaymentRouter',
    'function sweep(bytes32 memo, address merchant) public nonReentrant',
    'function sweep(bytes32 memo, address merchant) public',
  ],
  [
    'recover can be entered in the middle',
    'PaymentRouter',
    'address asset) external nonReentrant returns (uint256 amount) {\n        if (asset == address(token))',
    'address asset) external returns (uint256 amount) {\n        if (asset == address(token))',
  ],
  [
    'a signed payment can be entered again',
    'PaymentRouter',
    'bytes calldata signature\n    ) external nonReentrant {',
    'bytes calldata signature\n    ) external {',
  ],
  ['a payment by permit can be entered again', 'PaymentRouter', 'bytes32 s\n    ) external nonReentrant {', 'bytes32 s\n    ) external {'],
  [
    'what the merchant got by pay is not checked',
    'PaymentRouter',
    'if (merchant != msg.sender) _requireGrowth(merchant, balance, share);',
    'balance;',
  ],
  [
    'what the merchant got by a signature is not checked',
    'PaymentRouter',
    'token.safeTransfer(merchant, share);\n        _requireGrowth(merchant, balance, share);',
    'token.safeTransfer(merchant, share);\n        balance;',
  ],
  ['the payment token is recovered', 'PaymentRouter', 'if (asset == address(token)) revert NotRecoverable(asset);', ''],
  ['the token may be a merchant', 'PaymentRouter', '            merchant == address(token) ||\n', ''],
  ['the router may be a merchant', 'PaymentRouter', '            merchant == address(this) ||\n', ''],
  ['the token may take the fees', 'PaymentRouter', '            feeReceiver_ == address(token_) ||\n', ''],
  ['the router may take the fees', 'PaymentRouter', '            feeReceiver_ == address(this) ||\n', ''],
  ['there may be no token', 'PaymentRouter', 'if (address(token_).code.length == 0) revert InvalidToken(address(token_));', ''],
  ['the factory obeys anyone', 'RouterFactory', 'if (msg.sender != deployer) revert NotDeployer(msg.sender);', ''],
  ['the factory goes on naming a token', 'RouterFactory', 'token = IERC20(address(0));', ''],
]

/** Only the compiler's cache is shared between mutants. */
const folder = mkdtempSync(join(tmpdir(), 'payment-router-mutants-'))
for (const entry of ['contracts', 'scripts', 'foundry.toml']) cpSync(join(root, entry), join(folder, entry), { recursive: true })
for (const test of ['Payments.sol', 'RouterInvariants.t.sol', 'RouterRules.t.sol', 'Vm.sol', 'World.sol'])
  cpSync(join(root, 'forge', test), join(folder, 'forge', test))
mkdirSync(join(folder, 'node_modules'))
for (const entry of ['@openzeppelin', 'solc']) symlinkSync(join(root, 'node_modules', entry), join(folder, 'node_modules', entry))

const chosen = process.argv.slice(2)
let survivors = 0
try {
  for (const [name, contract, there, instead] of mutants.filter(([name]) => chosen.length === 0 || chosen.includes(name))) {
    const file = join(folder, 'contracts', `${contract}.sol`)
    const source = readFileSync(file, 'utf8')
    if (source.split(there).length < 2) throw new Error(`${name}: ${contract}.sol does not contain ${there}`)
    writeFileSync(file, source.replace(there, instead))
    const { code, printed } = await forge(['test', '--fail-fast'], { folder })
    writeFileSync(file, source)
    const caught = code !== 0 && /\[FAIL/.test(printed)
    if (!caught) survivors += 1
    const by = printed.match(/\[FAIL[:.]?\s*([^\]]*)\]/)?.[1]?.slice(0, 80) ?? ''
    console.log(caught ? `✓ ${name}: ${by}` : `✗ ${name} survives${code === 0 ? '' : `:\n${printed.slice(-2_000)}`}`)
  }
} finally {
  rmSync(folder, { recursive: true })
}
console.log(`${survivors} survived`)
process.exitCode = survivors === 0 ? 0 : 1
