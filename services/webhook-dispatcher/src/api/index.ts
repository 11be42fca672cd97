export { merchantOf, owned, pathId } from './caller'
export { endpointRoutes } from './endpoint-routes'
