import {
  NativeSelect,
  type NativeSelectProps,
  PasswordInput,
  type PasswordInputProps,
  Textarea,
  type TextareaProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core'
import { createContext, useContext } from 'react'

/** The complaint at a field of the form around it. */
export const FaultContext = createContext<(name: string) => string | undefined>(() => undefined)
const useFault = (name: string) => useContext(FaultContext)(name)

type Named<Props> = Props & { name: string }

export const Field = (of: Named<TextInputProps>) => <TextInput autoComplete="off" error={useFault(of.name)} {...of} />
/** Of an account or a contract. */
export const AddressField = (of: Named<TextInputProps>) => <Field placeholder="0x…" spellCheck={false} {...of} />
export const SecretField = (of: Named<PasswordInputProps>) => <PasswordInput error={useFault(of.name)} {...of} />
export const LongField = (of: Named<TextareaProps>) => <Textarea error={useFault(of.name)} {...of} />
export const ChoiceField = (of: Named<NativeSelectProps>) => <NativeSelect error={useFault(of.name)} {...of} />

/** Choices of a select by their labels. */
export const labelled = (labels: Readonly<Record<string, string>>) => Object.entries(labels).map(([value, label]) => ({ value, label }))
