import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api, type ListFile, type Query } from '../api/api'
import { Failure } from '../elements/states'
import { useWords } from '../texts/words'
import { saveBlob } from './save-blob'

export function Download({ list, query = {} }: { list: ListFile; query?: Query }) {
  const { t } = useWords()
  const download = useMutation({
    mutationFn: () => api.file(list, query),
    onSuccess: blob => saveBlob(blob, `${list}.csv`),
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
