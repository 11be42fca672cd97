import { useEffect, useState } from 'react'

/** Dark modules as a path, on a square of `size` modules with its quiet zone. */
export interface QrDrawing {
  path: string
  size: number
}

/** The encoder is loaded when there is something to draw. */
export async function drawQr(text: string): Promise<QrDrawing> {
  const { encode } = await import('uqr')
  const { data, size } = encode(text, { ecc: 'M', border: 2 })
  return { path: data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join(''), size }
}

/** A QR code, drawn here. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const [drawing, setDrawing] = useState<QrDrawing | null>(null)
  useEffect(() => {
    let wanted = true
    void drawQr(text).then(drawn => wanted && setDrawing(drawn))
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
