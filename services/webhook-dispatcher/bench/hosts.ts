/** Where the receiver listens: on several hosts, since the dispatcher opens 128 connections to one and no more. */
export const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'] as const
