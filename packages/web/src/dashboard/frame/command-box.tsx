import { Combobox, Kbd, Modal, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedValue, useHotkeys } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '../api/api'
import { Failure } from '../elements/states'
import { OrderBadge } from '../orders/order-badge'
import { titleOf } from '../orders/order-title'
import { useWords } from '../texts/words'
import { pages } from './pages'
import './command-box.css'

const ORDERS_SHOWN = '5'
const TYPING_MS = 200
/** As much of a message as the search takes. */
const LENGTH_MAX = 300

const keys = navigator.platform.startsWith('Mac') ? '⌘K' : 'Ctrl K'
const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** A box over any page that leads to another one, or to an order by whatever is known of it; Ctrl-K opens it. */
export function CommandBox() {
  const { t } = useWords()
  const [, navigate] = useLocation()
  // Another page takes the focus itself.
  const [{ isOpen, hasLed }, set] = useState({ isOpen: false, hasLed: false })
  const open = () => set({ isOpen: true, hasLed: false })
  useHotkeys([['mod+K', open]], [])
  const close = () => set({ isOpen: false, hasLed: false })
  const lead = (path: string) => {
    set({ isOpen: false, hasLed: true })
    navigate(path)
  }
  return (
    <>
      <button type="button" className="find" aria-keyshortcuts="Control+K Meta+K" onClick={open}>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12M13.5 13.5 17 17" />
        </svg>
        <span>{t.find.title}</span>
        <Kbd size="xs" aria-hidden="true">
          {keys}
        </Kbd>
      </button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t.find.title}
        closeButtonProps={{ 'aria-label': t.close }}
        lockScroll={false}
        returnFocus={!hasLed}
      >
        {isOpen && <Finder onChosen={lead} onClose={close} />}
      </Modal>
    </>
  )
}

function Finder({ onChosen, onClose }: { onChosen(path: string): void; onClose(): void }) {
  const { t, brl } = useWords()
  // The options take Escape from the dialog while they are shown, and here they always are.
  const combobox = useCombobox({ opened: true, onDropdownClose: onClose })
  const [typed, setTyped] = useState('')
  const text = typed.trim()
  const [asked] = useDebouncedValue(text, TYPING_MS)
  const { data, error, isFetching } = useQuery({
    queryKey: ['find', asked],
    queryFn: () => api.orders({ text: asked, limit: ORDERS_SHOWN }),
    enabled: asked !== '',
  })
  const orders = asked === text ? (data?.data ?? []) : []
  const places = pages.filter(({ name }) => plain(t.nav[name]).includes(plain(text)))
  const { selectFirstOption } = combobox
  // biome-ignore lint/correctness/useExhaustiveDependencies: with other options the first one is chosen
  useEffect(() => void selectFirstOption(), [text, orders.length])
  return (
    <Combobox store={combobox} onOptionSubmit={onChosen}>
      <Combobox.EventsTarget>
        <TextInput
          data-autofocus
          aria-label={t.find.title}
          placeholder={t.find.hint}
          maxLength={LENGTH_MAX}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </Combobox.EventsTarget>
      <Combobox.Options className="found" aria-label={t.find.title}>
        {places.length > 0 && (
          <Combobox.Group label={t.navLabel}>
            {places.map(({ path, name }) => (
              <Combobox.Option key={path} value={path}>
                {t.nav[name]}
              </Combobox.Option>
            ))}
          </Combobox.Group>
        )}
        {text !== '' && (
          <Combobox.Group label={t.nav.orders}>
            {orders.map(order => (
              <Combobox.Option key={order.id} value={`/orders/${order.id}`} className="found-order">
                <span className="cut">{titleOf(order)}</span>
                <OrderBadge status={order.status} />
                <span>{brl(order.brl_amount)}</span>
              </Combobox.Option>
            ))}
            <Combobox.Option value={`/orders?${new URLSearchParams({ q: text })}`}>{t.find.all(text)}</Combobox.Option>
          </Combobox.Group>
        )}
      </Combobox.Options>
      {error && <Failure error={error} />}
      <p className="faint" role="status">
        {error === null &&
          text !== '' &&
          (asked !== text || isFetching ? t.loading : t.find.found(`${orders.length}${data?.has_more ? '+' : ''}`))}
      </p>
    </Combobox>
  )
}
