export { type ShopSettings, sellOnce, startProgram } from './shop'
