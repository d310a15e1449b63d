import type { YAMLParseError } from 'yaml';

const COLUMNS = 'check the indentation: the keys of one map start in the same column';

/**
 * Suggests how to fix a YAML syntax error, because the parser's messages do not.
 *
 * @param line the line of the error
 * @param column the column of the error, from 1
 */
export function syntaxHint(
  error: Pick<YAMLParseError, 'code' | 'message'>,
  line: string,
  column: number,
): string | undefined {
  if (/[:-]\s+\{\{/.test(line)) return 'put quotes around the template';
  if (error.code === 'TAB_AS_INDENT') return 'indent with spaces, not with tabs';
  if (isMisaligned(error) || (isUnexpectedScalar(error) && line.slice(0, column - 1).trim() === ''))
    return COLUMNS;
  // `x: a: b`
  if (/:\s.*:(\s|$)/.test(line))
    return 'put quotes around text that contains ": ", or write it as a block after "|"';
  if (error.code === 'BLOCK_AS_IMPLICIT_KEY' || isListEntry(error, line)) return COLUMNS;
  if (error.code !== 'MULTILINE_IMPLICIT_KEY') return undefined;
  return 'a key ends with ":" and starts in the same column as the other keys of its map';
}

/** Distinguishes keys in the wrong column from unclosed braces and brackets, which have the same code. */
function isMisaligned({ message }: Pick<YAMLParseError, 'message'>): boolean {
  return message.startsWith('All mapping items') || message.startsWith('Sequence item without');
}

function isUnexpectedScalar({ message }: Pick<YAMLParseError, 'message'>): boolean {
  return message.startsWith('Unexpected scalar at ');
}

/** A list entry where a key is expected. */
function isListEntry({ code }: Pick<YAMLParseError, 'code'>, line: string): boolean {
  return code === 'MULTILINE_IMPLICIT_KEY' && /^\s*-\s/.test(line);
}
