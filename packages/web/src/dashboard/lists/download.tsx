import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Failure } from '../elements'
import { useWords } from '../texts'

/** A list as a file. The token of a session is in no address, so the file is fetched and then saved. */
export function Download({ name, work }: { name: string; work(): Promise<Blob> }) {
  const { t } = useWords()
  const download = useMutation({
    mutationFn: work,
    onSuccess: blob => {
      const url = URL.createObjectURL(blob)
      const link = Object.assign(document.createElement('a'), { href: url, download: name })
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
