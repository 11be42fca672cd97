export { EndpointWarnings } from './endpoint-warnings'
export { EndpointsPage } from './endpoints-page'
export { useEndpointName, useEndpoints } from './use-endpoints'
