import { toggleTheme, useTheme } from '../theme'

/** Changes between light and dark; each page dresses it. */
export function ThemeButton({ label, className }: { label: string; className?: string }) {
  const theme = useTheme()
  return (
    <button type="button" className={className} onClick={toggleTheme} aria-label={label} title={label}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {theme === 'dark' ? (
          <path d="M10 5.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9M10 1v1.500M10 17.500V19M1 10h1.500M17.500 10H19M3.600 3.600l1.100 1.100M15.300 15.300l1.100 1.100M3.600 16.400l1.100-1.100M15.300 4.700l1.100-1.100" />
        ) : (
          <path d="M16.500 12.200A7 7 0 0 1 7.800 3.500a7 7 0 1 0 8.700 8.700z" />
        )}
      </svg>
    </button>
  )
}
