import './mark.css'

export function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" className="mark">
      <rect width="32" height="32" rx="9" />
      <path d="M5 21.500h22M8.500 21.500v-3a7.500 7.500 0 0 1 15 0v3M16 11v10.500" />
    </svg>
  )
}
