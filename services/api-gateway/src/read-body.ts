/** A body of at most so many bytes. Throws when it is larger, and reads no more of it. */
export async function readBody(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > bytesMax) throw new Error('The answer is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The JSON of an answer of at most so many bytes; undefined without a body. */
export async function readJson({ body }: Response, bytesMax: number): Promise<unknown> {
  return body === null ? undefined : JSON.parse((await readBody(body, bytesMax)).toString('utf8'))
}
