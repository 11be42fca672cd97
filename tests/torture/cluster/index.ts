export { type Cluster, startCluster } from './cluster'
export { type Servers, startServers } from './servers'
