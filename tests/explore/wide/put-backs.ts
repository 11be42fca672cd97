import { widePutBacks } from '../scopes'
import { walksAll } from '../wide-orders'

// In a file of their own, so that two workers share the orders.
walksAll(widePutBacks)
