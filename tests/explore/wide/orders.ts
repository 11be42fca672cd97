import { wideOrders } from '../scopes'
import { walksAll } from '../wide-orders'

walksAll(wideOrders)
