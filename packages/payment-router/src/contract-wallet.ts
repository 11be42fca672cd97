import { ContractFactory, type JsonRpcProvider } from 'ethers'
import { contractWalletAbi, contractWalletBytecode } from './artifacts/contract-wallet'

/** Deploys a wallet that is a contract and signs by its owner's key (ERC-1271). Answers its address once it is mined. */
export async function deployContractWallet({ provider }: { provider: JsonRpcProvider }, owner: string): Promise<string> {
  const factory = new ContractFactory(contractWalletAbi, contractWalletBytecode, await provider.getSigner(0))
  const wallet = await (await factory.deploy(owner)).waitForDeployment()
  return wallet.getAddress()
}
