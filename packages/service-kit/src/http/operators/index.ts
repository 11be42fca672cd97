export * from './audit'
export * from './dead-letters'
export * from './republish'
export * from './reseal'
