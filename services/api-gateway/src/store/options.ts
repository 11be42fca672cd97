export interface MerchantStoreOptions {
  now: () => Date
  /** Called after each commit with events. */
  committed(): void
  mails?: boolean
}
