import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api, type ListFile, type Query } from '../api/api'
import { Failure } from '../elements/states'
import { useWords } from '../texts/words'

/** A list as a file. The token of a session is in no address, so the file is fetched and then saved. */
export function Download({ list, query = {} }: { list: ListFile; query?: Query }) {
  const { t } = useWords()
  const download = useMutation({
    mutationFn: () => api.file(list, query),
    onSuccess: blob => {
      const url = URL.createObjectURL(blob)
      const link = Object.assign(document.createElement('a'), { href: url, download: `${list}.csv` })
      link.click()
      URL.revokeObjectURL(url)
    },
  })
  return (
    <>
      <Button variant="default" loading={download.isPending} onClick={() => download.mutate()}>
        {t.lists.download}
      </Button>
      {download.error && <Failure error={download.error} />}
    </>
  )
}
