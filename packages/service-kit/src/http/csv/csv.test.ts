import { csvLine } from './csv'

test.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['a"b', '"a""b"'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  ['=HYPERLINK("http://evil")', `"'=HYPERLINK(""http://evil"")"`],
  ['+55 11', "'+55 11"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  [' =1', `' =1`],
  ['\t=1', "'\t'=1"],
  ['＝1', "'＝1"],
  ['INV-7', 'INV-7'],
  ['a;b', 'a;b'],
  ['a;=1+1', "a;'=1+1"],
  ['a; @SUM(A1);-1', "a;' @SUM(A1);'-1"],
  ['a\n=1', `"a\n'=1"`],
  ['a;;\t\t =1', "a;;\t\t' =1"],
])('%j is written so that no spreadsheet evaluates or splits it', (text, cell) => expect(csvLine([text, null])).toBe(`${cell},\r\n`))
