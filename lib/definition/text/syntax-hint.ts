import type { YAMLParseError } from 'yaml';

const COLUMNS = 'check the indentation: keys that belong together begin in the same column';

/**
 * What to do about a text that is no YAML, for the parser's words do not help.
 *
 * @param line in which it found the mistake
 * @param column of the mistake, from 1
 */
export function syntaxHint(
  error: Pick<YAMLParseError, 'code' | 'message'>,
  line: string,
  column: number,
): string | undefined {
  if (/[:-]\s+\{\{/.test(line)) return 'put quotes around the template';
  if (error.code === 'TAB_AS_INDENT') return 'indent with blanks, not with tabs';
  if (isOutOfColumn(error) || (isStray(error) && isBlank(line.slice(0, column - 1)))) return COLUMNS;
  // `x: a: b`
  if (/:\s.*:(\s|$)/.test(line))
    return 'put quotes around text that holds ": ", or write it as a block after "|"';
  if (error.code === 'BLOCK_AS_IMPLICIT_KEY' || isDash(error, line)) return COLUMNS;
  if (error.code !== 'MULTILINE_IMPLICIT_KEY') return undefined;
  return 'a key ends with ":", and begins in the column of its neighbours';
}

/** Braces and brackets that are not closed have the same code as keys in the wrong column. */
function isOutOfColumn({ message }: Pick<YAMLParseError, 'message'>): boolean {
  return message.startsWith('All mapping items') || message.startsWith('Sequence item without');
}

function isStray({ message }: Pick<YAMLParseError, 'message'>): boolean {
  return message.startsWith('Unexpected scalar at ');
}

/** An entry of a list where a key is wanted. */
function isDash({ code }: Pick<YAMLParseError, 'code'>, line: string): boolean {
  return code === 'MULTILINE_IMPLICIT_KEY' && /^\s*-\s/.test(line);
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
