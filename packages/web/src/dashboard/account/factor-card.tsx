import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { QrCode } from '../../qr-code'
import type { Factor } from '../api/identity'
import { accessToken, adopt, identity, refresh } from '../api/session'
import { Card } from '../elements/card'
import { CopyValue } from '../elements/copy'
import { Failure, Loading } from '../elements/states'
import { Confirmed } from '../forms/confirmed'
import { useWords } from '../texts/words'
import { CodeForm } from './code-form'

const FACTORS = ['factors']

/** A second factor at the identity provider. Who has one is asked for it at each login, and the gateway changes nothing of the account without it. */
export function FactorCard() {
  const { t } = useWords()
  const queries = useQueryClient()
  const [news, setNews] = useState<'added' | 'removed' | null>(null)
  const factors = useQuery({
    queryKey: FACTORS,
    queryFn: async () => (await (await identity()).userOf(await accessToken())).factors ?? [],
  })
  const changed = (what: 'added' | 'removed') => {
    setNews(what)
    void queries.invalidateQueries()
  }
  const proven = factors.data?.filter(({ status }) => status === 'verified') ?? []
  const app = proven.find(({ factor_type }) => factor_type === 'totp')
  const remove = async ({ id }: Factor) => {
    await (await identity()).removeFactor(await accessToken(), id)
    // The token of before still carries it.
    await refresh()
  }
  return (
    <Card title={t.signIn.own.factorTitle}>
      {factors.error && <Failure error={factors.error} onRetry={() => void factors.refetch()} />}
      {factors.isPending && <Loading />}
      {factors.data && app && (
        <>
          <p>{t.signIn.own.factorOn}</p>
          <div className="buttons">
            <Confirmed
              action={t.signIn.own.remove}
              question={t.signIn.own.removeSure}
              work={() => remove(app)}
              onDone={() => changed('removed')}
            />
          </div>
        </>
      )}
      {factors.data && !app && (
        <>
          <p>{proven.length > 0 ? t.signIn.own.factorOther : t.signIn.own.factorNone}</p>
          <Enrol onDone={() => changed('added')} />
        </>
      )}
      <div role="status">{news && <p className="done">{t.signIn.own[news]}</p>}</div>
    </Card>
  )
}

function Enrol({ onDone }: { onDone(): void }) {
  const { t } = useWords()
  const enrol = useMutation({
    // Two factors need different names; an earlier one may be unverified.
    mutationFn: async () => (await identity()).enrolFactor(await accessToken(), `Ponte ${new Date().toISOString()}`),
  })
  const prove = useMutation({
    mutationFn: async (code: string) => adopt(await (await identity()).proveFactor(await accessToken(), enrol.data?.id ?? '', code)),
    onSuccess: onDone,
  })
  if (!enrol.data) {
    return (
      <>
        {enrol.error && <Failure error={enrol.error} />}
        <div className="buttons">
          <Button variant="default" loading={enrol.isPending} onClick={() => enrol.mutate()}>
            {t.signIn.own.add}
          </Button>
        </div>
      </>
    )
  }
  return (
    <>
      <p>{t.signIn.own.scan}</p>
      <div className="factor-code">
        <QrCode text={enrol.data.uri} label={t.signIn.own.qr} />
      </div>
      <div className="secret">
        <CopyValue value={enrol.data.secret} label={t.signIn.own.key} />
      </div>
      <CodeForm work={prove} verb={t.signIn.own.on} />
    </>
  )
}
