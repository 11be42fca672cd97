/** A change that an owner is asked for, as the audit log has it. */
export interface RequestedChange {
  action: string
  /** Members and endpoints are informed of it. */
  isInforming: boolean
  /** Its answer holds a secret that it made, and so does the same answer again. */
  makesSecret: boolean
  /** Names of the fields that the request gives. */
  changed: string[]
  /** Null when it creates something. */
  target: string | null
}

/** Names of the fields that a body gives; never a value. What is no name of a field is left out, because anyone can send it. */
export function fieldsOf(body: unknown): string[] {
  if (!Buffer.isBuffer(body) || body.length === 0) return []
  try {
    // As its owner reads it, which takes no byte order mark for a part of the text.
    return Object.keys(Object(JSON.parse(new TextDecoder().decode(body))))
      .filter(name => /^[a-z_]{1,40}$/.test(name))
      .slice(0, FIELDS_MAX)
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

const FIELDS_MAX = 30
