import { type CheckpointBody, type CheckpointLogBody, formatUsdc } from '@ponte/contracts'
import type { Checkpoint, CheckpointLog } from './store'

export const checkpointBody = (one: Checkpoint, checksum: (address: string) => string): CheckpointBody => ({
  object: 'checkpoint',
  chain_id: one.chainId,
  token_address: checksum(one.token),
  router_addresses: one.routers.map(checksum),
  from_block: one.fromBlock,
  to_block: one.toBlock,
  block_hash: one.blockHash,
  payments: one.payments,
  late: one.late.map(log => logBody(log, checksum)),
  gone: one.gone.map(log => logBody(log, checksum)),
  previous_hash: one.previousHash,
  hash: one.hash,
})

const logBody = (log: CheckpointLog, checksum: (address: string) => string): CheckpointLogBody => ({
  block_number: log.blockNumber,
  block_hash: log.blockHash,
  tx_hash: log.txHash,
  log_index: log.logIndex,
  router_address: checksum(log.router),
  memo: log.memo,
  merchant_address: checksum(log.merchant),
  payer_address: checksum(log.payer),
  merchant_share: formatUsdc(log.share),
  fee: formatUsdc(log.fee),
})
