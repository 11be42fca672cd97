export interface MerchantStoreOptions {
  now: () => Date
  /** Called after each commit with events. */
  committed(): void
  /** Members are notified by mail. */
  mails?: boolean
}
