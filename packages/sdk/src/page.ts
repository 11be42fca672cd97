import type { RequestOptions } from './transport.js'

/** One page of a list. */
export interface Page<Item> {
  /** In the list's order. */
  data: Item[]
  /** Whether there is a further one. */
  has_more: boolean
  /** The further one; null at the end. */
  next(): Promise<Page<Item> | null>
}

export interface PageQuery {
  limit?: number
  starting_after?: string
  ending_before?: string
}

interface Answer<Item> {
  data: Item[]
  has_more: boolean
  /** Where a search that ended early goes on. */
  searched_to?: string
}

/**
 * A list: `await` gives its first page, `for await` all its items, page by page. Nothing is asked before either; `limit` is the size of a page.
 *
 * ```ts
 * const { data } = await ponte.orders.list({ status: 'paid' })
 * for await (const order of ponte.orders.list()) console.log(order.id)
 * ```
 */
export class List<Item extends { id: string }> implements PromiseLike<Page<Item>>, AsyncIterable<Item> {
  readonly #ask: (query: PageQuery, options: RequestOptions) => Promise<Answer<Item>>
  readonly #query: PageQuery
  readonly #options: RequestOptions
  #first: Promise<Page<Item>> | undefined

  constructor(
    ask: (query: PageQuery, options: RequestOptions) => Promise<Answer<Item>>,
    query: PageQuery = {},
    options: RequestOptions = {},
  ) {
    this.#ask = ask
    this.#query = query
    this.#options = options
  }

  /** Makes the list awaitable: its first page. */
  // biome-ignore lint/suspicious/noThenProperty: a list is awaited for its first page.
  then<Result = Page<Item>, Failure = never>(
    fulfilled?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null,
    rejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    this.#first ??= this.#page(this.#query)
    return this.#first.then(fulfilled, rejected)
  }

  /** All items. With `ending_before` it goes towards newer ones, oldest first. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const upwards = this.#query.ending_before !== undefined
    for (let page: Page<Item> | null = await this; page; page = await page.next()) {
      yield* upwards ? [...page.data].reverse() : page.data
    }
  }

  async #page(query: PageQuery): Promise<Page<Item>> {
    const { data, has_more, searched_to } = await this.#ask(query, this.#options)
    const last = query.ending_before === undefined ? data.at(-1) : data[0]
    const cursor = searched_to ?? last?.id
    const next = async () => {
      if (!has_more || !cursor) return null
      const { starting_after, ending_before, ...rest } = query
      return this.#page(ending_before === undefined ? { ...rest, starting_after: cursor } : { ...rest, ending_before: cursor })
    }
    return { data, has_more, next }
  }
}
