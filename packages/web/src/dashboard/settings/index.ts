export { KeyContext } from './known-key'
export { MerchantForm, Warnings } from './merchant-form'
export { SettingsPage } from './settings-page'
