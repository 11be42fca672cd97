import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { RequestFailed } from '../../problem'
import { Empty, Failure, Loading } from '../elements/states'
import { useWords } from '../texts/words'
import { Heading } from './heading'
import { usePageTitle } from './page-title'

/** An address that leads nowhere: asking again would not help, so there is a way on instead. */
export function Missing({ title, back }: { title: string; back?: ReactNode }) {
  const { t } = useWords()
  usePageTitle(title)
  return (
    <>
      {back}
      <Heading title={title} />
      <Empty title={t.missing.text}>
        <Link href="/">{t.overview.title}</Link>
      </Empty>
    </>
  )
}

interface NotYetProps {
  of: { error: Error | null; refetch(): unknown }
  back: ReactNode
  /** The heading when there is no such thing. */
  missing: string
}

/** In place of a thing that is not there yet, or that cannot be had. */
export function NotYet({ of: query, back, missing }: NotYetProps) {
  if (!query.error) return <Loading />
  if (query.error instanceof RequestFailed && [400, 403, 404].includes(query.error.status)) return <Missing title={missing} back={back} />
  return (
    <>
      {back}
      <Failure error={query.error} onRetry={() => void query.refetch()} />
    </>
  )
}
