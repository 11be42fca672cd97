import { createContext } from 'react'

/** The API key, while this page knows it: between its making and a reload. It is kept nowhere. */
export const KeyContext = createContext<{ key: string | null; setKey(key: string | null): void }>({ key: null, setKey: () => undefined })
