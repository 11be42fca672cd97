import { AbiCoder, concat, Interface, isError } from 'ethers'
import { stateProbeAbi, stateProbeBytecode } from '../artifacts/state-probe'

/** Any ethers provider. */
export interface ChainReader {
  call(transaction: { data: string }): Promise<string>
}

export interface Question {
  target: string
  of: Interface
  method: string
  values?: readonly unknown[]
}

export interface Answer {
  success: boolean
  /** The answer, or why it reverted. */
  data: string
  /** The first decoded value; undefined when the call reverted or answered something else. */
  value: unknown
}

const abi = new Interface(stateProbeAbi)
const NONE: Answer = { success: false, data: '0x', value: undefined }

function decoded({ of, method }: Question, { success, data }: Answer): Answer {
  if (!success) return { success, data, value: undefined }
  try {
    return { success, data, value: of.decodeFunctionResult(method, data).toArray()[0] }
  } catch (error) {
    if (!isError(error, 'BAD_DATA') && !isError(error, 'BUFFER_OVERRUN')) throw error
    return { success, data, value: undefined }
  }
}

/** Makes calls and reads codes in one block, by one `eth_call` that deploys nothing. */
export async function probe<Name extends string>(
  reader: ChainReader,
  questions: Record<Name, Question>,
  accounts: readonly string[],
): Promise<{ chainId: bigint; answers: Record<Name, Answer>; codeOf(account: string): string }> {
  const asked: [string, Question][] = Object.entries(questions)
  const calls = asked.map(([, { target, of, method, values }]) => ({ target, data: of.encodeFunctionData(method, values) }))
  const found = await reader.call({ data: concat([stateProbeBytecode, abi.encodeDeploy([calls, accounts])]) })
  const [chainId, results, codes] = AbiCoder.defaultAbiCoder().decode(['uint256', 'tuple(bool success, bytes data)[]', 'bytes[]'], found)
  const answers = Object.fromEntries(asked.map(([name, question], index) => [name, decoded(question, results[index] ?? NONE)]))
  return { chainId, answers: answers as Record<Name, Answer>, codeOf: account => codes[accounts.indexOf(account)] ?? '0x' }
}
