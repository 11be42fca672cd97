/** Which of the user's merchants this tab is about, over reloads; none is the one that the gateway takes by itself. */
const KEY = 'ponte.merchant'

export const chosenMerchant = (): string | null => sessionStorage.getItem(KEY)
export const chooseMerchant = (id: string): void => sessionStorage.setItem(KEY, id)
export const forgetMerchant = (): void => sessionStorage.removeItem(KEY)
