import { toggleTheme, useTheme } from '../theme'

/** Changes between light and dark; each page dresses it. */
export function ThemeButton({ label, className }: { label: string; className?: string }) {
  const theme = useTheme()
  return (
    <button type="button" className={className} onClick={toggleTheme} aria-label={label} title={label}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {theme === 'dark' ? (
          <path d="M10 5.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10 1v1.5M10 17.5V19M1 10h1.5M17.5 10H19M3.6 3.6l1.1 1.1M15.3 15.3l1.1 1.1M3.6 16.4l1.1-1.1M15.3 4.7l1.1-1.1" />
        ) : (
          <path d="M16.5 12.2A7 7 0 0 1 7.8 3.5a7 7 0 1 0 8.7 8.7z" />
        )}
      </svg>
    </button>
  )
}
