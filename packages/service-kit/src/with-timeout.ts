/** Rejects when the work takes longer than `timeoutMs`; the work itself goes on unheard. */
export async function withTimeout<T>(timeoutMs: number, work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeoutMs} ms.`)), timeoutMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
