import './mark.css'

export function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" className="mark">
      <rect width="32" height="32" rx="9" />
      <path d="M5 21.5h22M8.5 21.5v-3a7.5 7.5 0 0 1 15 0v3M16 11v10.5" />
    </svg>
  )
}
