import '@mantine/core/styles.css'
import '@fontsource-variable/figtree/wght.css'
import '../tokens.css'
import './mantine.css'
import './page.css'
import { createTheme, MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { startLanguage } from '../language'
import { RequestFailed } from '../problem'
import { startTheme, useTheme } from '../theme'
import { Dashboard } from './dashboard'

const FRESH_MS = 2_000
const RETRIES = 3

const isPassing = (error: Error) => error instanceof RequestFailed && (error.status === 0 || error.status >= 500)

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      // A refusal stays one, and without a connection there is nothing to wait for.
      retry: (failures, error) => failures < RETRIES && navigator.onLine && isPassing(error),
      // A request that cannot be sent fails at once, so that the page can report it.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    mutations: { networkMode: 'always' },
  },
})
// Colours come from tokens.css by dashboard.css: the content security policy has no place for styles made at run time.
const theme = createTheme({ primaryColor: 'teal', defaultRadius: 'md', fontFamily: 'var(--font)', fontFamilyMonospace: 'var(--mono)' })

function Root() {
  const scheme = useTheme()
  return (
    <MantineProvider theme={theme} forceColorScheme={scheme} withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={queries}>
        <Dashboard />
      </QueryClientProvider>
    </MantineProvider>
  )
}

startTheme()
startLanguage()
const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Root />
    </StrictMode>,
  )
}
