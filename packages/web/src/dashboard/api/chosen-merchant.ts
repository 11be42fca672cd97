/**
 * Which of the user's merchants this page is about. A choice stays over reloads. Without one the gateway takes one by itself, which may be another
 * a moment later: the page keeps to the first.
 */
const KEY = 'ponte.merchant'
let shown: string | null = null

export const chosenMerchant = (): string | null => sessionStorage.getItem(KEY) ?? shown
export const chooseMerchant = (id: string): void => sessionStorage.setItem(KEY, id)
export const keepToMerchant = (id: string): void => {
  shown = id
}
export const forgetMerchant = (): void => {
  sessionStorage.removeItem(KEY)
  shown = null
}
