import { replaysOver } from '../long-runs'

replaysOver('memory')
