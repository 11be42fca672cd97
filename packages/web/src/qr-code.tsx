import { useEffect, useState } from 'react'

/** A QR code, drawn here; the encoder is loaded when there is something to draw. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const [drawing, setDrawing] = useState<{ path: string; size: number } | null>(null)
  useEffect(() => {
    let wanted = true
    void import('uqr').then(({ encode }) => {
      if (!wanted) return
      const { data, size } = encode(text, { ecc: 'M', border: 2 })
      const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
      setDrawing({ path, size })
    })
    return () => {
      wanted = false
    }
  }, [text])
  return (
    <div className="qr">
      {drawing && (
        <svg viewBox={`0 0 ${drawing.size} ${drawing.size}`} role="img" aria-label={label} shapeRendering="crispEdges">
          <path d={drawing.path} />
        </svg>
      )}
    </div>
  )
}
