import { replaysOver } from '../long-runs'

replaysOver('rabbitmq')
