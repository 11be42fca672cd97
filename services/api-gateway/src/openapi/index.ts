export { INTERFACE_VERSION, type OpenApiDocument, openApiDocument } from './document'
export { operations } from './operations'
export type { JsonSchema } from './schemas'
