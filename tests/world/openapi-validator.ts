import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'

export interface Answered {
  method: string
  /** Path and query as they were asked. */
  path: string
  status: number
  headers: Headers
  text: string
}

interface Document {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { headers?: Record<string, unknown>; content?: Record<string, object> }> }>
  >
}

const documents = new Map<string, Promise<(answered: Answered) => string[]>>()

/** Judges answers of the gateway at this URL by the OpenAPI document that it serves. The judge answers what is wrong, in words. */
export function openApiValidator(gatewayUrl: string): Promise<(answered: Answered) => string[]> {
  const known = documents.get(gatewayUrl) ?? fetchDocument(gatewayUrl).then(judge)
  documents.set(gatewayUrl, known)
  // A gateway that is down now is asked again by the next one.
  known.catch(() => documents.delete(gatewayUrl))
  return known
}

async function fetchDocument(gatewayUrl: string): Promise<Document> {
  return (await (await fetch(`${gatewayUrl}/openapi.json`)).json()) as Document
}

function judge(document: Document): (answered: Answered) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats(ajv)
  ajv.addSchema(document, 'openapi')
  const compiled = new Map<string, ValidateFunction>()
  const validator = (pointer: string) => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` })
    compiled.set(pointer, known)
    return known
  }
  const routes = Object.keys(document.paths).map(path => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }))
  // A route of words goes before one with a name in it.
  routes.sort((a, b) => a.path.split('{').length - b.path.split('{').length)

  return ({ method, path, status, headers, text }) => {
    const [plain = ''] = path.split('?')
    const route = routes.find(({ path, pattern }) => pattern.test(plain) && document.paths[path]?.[method.toLowerCase()])
    const where = `${method} ${plain} ${status}`
    const responses = route && document.paths[route.path]?.[method.toLowerCase()]?.responses
    if (!responses) return status === 404 ? [] : [`${where}: the route is not documented`]
    const response = responses[String(status)]
    if (!response) return [`${where}: the status is not documented for ${route.path}; the body is ${text.slice(0, 300)}`]

    const missing = headers.get('x-request-id') === null ? [`${where}: X-Request-Id is missing`] : []
    const type = (headers.get('content-type') ?? '').split(';')[0] ?? ''
    if (!response.content?.[type]) return [...missing, `${where}: the type ${type} is not documented`]
    if (!/[/+]json$/.test(type)) return missing
    const pointer = ['', 'paths', route.path, method.toLowerCase(), 'responses', String(status), 'content', type, 'schema']
    const validate = validator(pointer.map(step => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/'))
    if (validate(JSON.parse(text))) return missing
    const faults = (validate.errors ?? []).map(
      error => `${where}: ${error.instancePath || '(body)'} ${error.message} ${JSON.stringify(error.params)}`,
    )
    return [...missing, ...faults]
  }
}
