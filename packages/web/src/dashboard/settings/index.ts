export { KeyContext } from './known-key'
export { FieldWarning, MerchantForm } from './merchant-form'
export { SettingsPage } from './settings-page'
