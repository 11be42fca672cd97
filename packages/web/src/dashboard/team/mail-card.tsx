import { Checkbox } from '@mantine/core'
import type { MailTopic } from '@ponte/contracts'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../api/api'
import { Card } from '../elements/card'
import { Failure } from '../elements/states'
import { useWords } from '../texts/words'

const KEY = ['mail']

/** The user's own mailbox, in the language of this page. */
export function MailCard() {
  const { t, language } = useWords()
  const queries = useQueryClient()
  const { data } = useQuery({ queryKey: KEY, queryFn: api.mail })
  const update = useMutation({ mutationFn: api.updateMail, onSuccess: saved => queries.setQueryData(KEY, saved) })
  if (!data?.is_sending) return null
  const topics = Object.entries(t.team.topics) as [MailTopic, string][]
  const toggle = (topic: MailTopic) => {
    const chosen = data.topics.includes(topic) ? data.topics.filter(each => each !== topic) : [...data.topics, topic]
    update.mutate({ topics: chosen, language })
  }
  return (
    <Card title={t.team.mail} className="team">
      <p>{data.email ? t.team.mailTo(data.email) : t.team.mailNone}</p>
      <fieldset className="kinds">
        {topics
          .filter(([topic]) => data.possible_topics.includes(topic))
          .map(([topic, label]) => (
            <Checkbox
              key={topic}
              label={data.fixed_topics.includes(topic) ? `${label} (${t.team.always})` : label}
              checked={data.topics.includes(topic)}
              disabled={data.fixed_topics.includes(topic) || update.isPending}
              onChange={() => toggle(topic)}
            />
          ))}
      </fieldset>
      {update.error && <Failure error={update.error} />}
    </Card>
  )
}
