import { withoutThoughts } from '../models/thoughts.js';

/** The definition in a model's answer, or the reason why the model cannot write one. */
export type ReadAnswer = { readonly yaml: string } | { readonly cannot: string };

/** `# cannot: the reason`, as the prompt asks for it. */
const REFUSAL = /^[ \t]*#[ \t]*cannot:[ \t]*(\S.*)$/im;

/** The first line of a definition, at any indentation: its root key, or a list of parts without one. */
const ROOT_LINE = /^[ \t]*["']?(?:pipeline|plan|tasks|sub_pipelines)["']?[ \t]*:/m;

/** Root keys only: `tasks:` does not start a definition. */
const FIRST_LINE = /^[ \t]*["']?(?:pipeline|plan)["']?[ \t]*:/;
const BARE_FIRST_LINE = /^[ \t]*(?:id|goal|tasks|sub_pipelines)[ \t]*:/;

/** A text that begins with a root key, after comments and marks of documents. */
const ROOTED = /^(?:[ \t]*(?:(?:#|---|%).*)?\n)*[ \t]*["']?(?:pipeline|plan)["']?[ \t]*:/;

/** The lists of a definition in JSON. */
const PARTS = /"(?:tasks|sub_pipelines)"\s*:/;

/**
 * Finds the definition in the answer of a model: without its thoughts, without prose, and without the fence around it.
 * Returns the answer as it is when there is no definition in it, so that the validator says what is wrong. Never throws,
 * and takes time linear in the answer.
 */
export function readAnswer(text: string): ReadAnswer {
  const answer = withoutThoughts(text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n'), isInDefinition);
  const found = findInFences(answer) ?? findInProse(answer) ?? findJson(answer);
  if (found !== undefined) return { yaml: endWithNewline(found) };
  const [, reason] = REFUSAL.exec(answer) ?? [];
  if (reason !== undefined) return { cannot: reason.trim() };
  return { yaml: endWithNewline(answer.trim()) };
}

/** A definition may speak of thoughts itself, in a prompt. */
function isInDefinition(before: string, after: string): boolean {
  return ROOT_LINE.test(before) || !ROOT_LINE.test(after);
}

/** The mark is as long as it can be, so that a line of marks is read once. */
const FENCE = /^( {0,3}|\t)(`{3,}(?!`)|~{3,}(?!~))[^`]*$/;

interface OpenFence {
  readonly mark: string;
  readonly indent: number;
  readonly lines: string[];
}

/**
 * Returns the last block with a whole definition, or else with a part of one: a model that corrects itself does so below,
 * and may then show a snippet. A fence need not be closed.
 */
function findInFences(text: string): string | undefined {
  const blocks: string[] = [];
  let open: OpenFence | undefined;
  for (const line of text.split('\n')) {
    const [, indent = '', mark = ''] = FENCE.exec(line) ?? [];
    if (open === undefined) {
      if (mark !== '') open = { mark, indent: indent.length, lines: [] };
    } else if (closes(line, open)) {
      blocks.push(open.lines.join('\n'));
      open = undefined;
    } else open.lines.push(removeIndent(line, open.indent));
  }
  if (open !== undefined) blocks.push(open.lines.join('\n'));
  return (
    blocks.findLast((block) => ROOTED.test(block) || (isJson(block) && PARTS.test(block))) ??
    blocks.findLast((block) => ROOT_LINE.test(block) || isJson(block))
  );
}

function closes(line: string, { mark }: OpenFence): boolean {
  const trimmed = line.trimEnd();
  const body = trimmed.replace(/^ {0,3}/, '');
  return body.length >= mark.length && body === mark.charAt(0).repeat(body.length);
}

function removeIndent(line: string, indent: number): string {
  return line.slice(0, indent).trim() === '' ? line.slice(indent) : line;
}

/** Returns the text from the first line of a definition on, up to the prose after it. */
function findInProse(text: string): string | undefined {
  const lines = text.split('\n');
  const rooted = lines.findIndex((line) => FIRST_LINE.test(line));
  const first = rooted >= 0 ? rooted : lines.findIndex((line) => BARE_FIRST_LINE.test(line));
  if (first < 0) return undefined;
  const indent = /^[ \t]*/.exec(lines[first] ?? '')?.[0].length ?? 0;
  const own = rooted >= 0 ? KEY_OR_COMMENT : KEY_ITEM_OR_COMMENT;
  const isProse = (line: string): boolean => {
    const content = line.trimStart();
    return content !== '' && line.length - content.length <= indent && !own.test(content);
  };
  const end = lines.findIndex((line, index) => index > first && isProse(line));
  return lines
    .slice(first, end < 0 ? lines.length : end)
    .map((line) => removeIndent(line, indent))
    .join('\n');
}

/** Lines that may stand at the margin of a definition: the validator reports a key that is misplaced there. */
const KEY_OR_COMMENT = /^(?:["']?[a-z_]+["']?[ \t]*:(?:\s|$)|#)/;
const KEY_ITEM_OR_COMMENT = /^(?:["']?[a-z_]+["']?[ \t]*:(?:\s|$)|#|-(?:\s|$))/;

function findJson(text: string): string | undefined {
  const [start, end] = [text.indexOf('{'), text.lastIndexOf('}')];
  const json = start < 0 ? '' : text.slice(start, end + 1);
  return isJson(json) ? json : undefined;
}

function isJson(text: string): boolean {
  return /^\s*\{\s*"(?:pipeline|plan|id|goal)"\s*:/.test(text);
}

function endWithNewline(text: string): string {
  return `${text.trimEnd()}\n`;
}
