interface PageQuery {
  starting_after?: string | undefined
  ending_before?: string | undefined
  created_gte?: string | undefined
  created_lt?: string | undefined
}

/** Newest first by id, which is time-ordered: a page costs the same at any depth. `ending_before` reads upwards and is reversed by the page. */
export const keyset = {
  where: (query: PageQuery) => ({
    ...(query.starting_after ? { id: { lt: query.starting_after } } : {}),
    ...(query.ending_before ? { id: { gt: query.ending_before } } : {}),
    ...(query.created_gte || query.created_lt
      ? { createdAt: { ...(query.created_gte ? { gte: query.created_gte } : {}), ...(query.created_lt ? { lt: query.created_lt } : {}) } }
      : {}),
  }),
  order: (query: PageQuery) => ({ id: query.ending_before === undefined ? ('desc' as const) : ('asc' as const) }),
}
