import { read } from '../files.js';

/** A fenced block. */
export interface Fence {
  readonly file: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  /** `yaml`, `sh`, … */
  readonly language: string;
  /** The info string after the language: `exit=3` gives `{exit: '3'}`, a bare word itself. */
  readonly info: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Link {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly target: string;
}

/** Lists the fenced blocks of a document, in order. */
export function fencesOf(file: string): Fence[] {
  const fences: Fence[] = [];
  let open: { line: number; language: string; info: Record<string, string>; body: string[] } | undefined;
  for (const [index, line] of read(file).split('\n').entries()) {
    if (open === undefined) {
      const [, language = '', rest = ''] = /^```(\w*)(.*)$/.exec(line) ?? [undefined];
      if (line.startsWith('```')) open = { line: index + 1, language, info: infoOf(rest), body: [] };
    } else if (line === '```') {
      const { body, ...head } = open;
      fences.push({ file, ...head, text: body.map((one) => `${one}\n`).join('') });
      open = undefined;
    } else open.body.push(line);
  }
  if (open !== undefined) throw new Error(`${file}:${open.line}: the block is never closed`);
  return fences;
}

function infoOf(rest: string): Record<string, string> {
  const words = rest.split(' ').filter((word) => word !== '');
  return Object.fromEntries(words.map((word) => [word.split('=', 1)[0] ?? '', word.split('=')[1] ?? word]));
}

/** Returns the text of a document without its fenced blocks; line numbers are unchanged. */
export function proseOf(file: string): string {
  let inside = false;
  return read(file)
    .split('\n')
    .map((line) => {
      const isFence = line.startsWith('```');
      if (isFence) inside = !inside;
      return isFence || inside ? '' : line;
    })
    .join('\n');
}

/** Lists the links of a document, images included. */
export function linksOf(file: string): Link[] {
  const prose = proseOf(file);
  return [...prose.matchAll(/\[([^\]]*)\]\(([^)\s]+)\)/g)].map(({ index, 1: text = '', 2: target = '' }) => {
    return { file, line: prose.slice(0, index).split('\n').length, text, target };
  });
}

/** Lists the anchors of the headings, as GitHub generates them. */
export function anchorsOf(file: string): Set<string> {
  const headings = proseOf(file)
    .split('\n')
    .flatMap((line) => /^#{1,6} (.*)$/.exec(line)?.[1] ?? []);
  return new Set(headings.map(anchorOf));
}

function anchorOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/** Lists the rows of every table as cells, without head and rule. */
export function tableRows(text: string): string[][] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const isRule = (at: number): boolean => /^\|(?:\s*:?-+:?\s*\|)+$/.test(lines[at] ?? '');
    if (!line.startsWith('|') || isRule(index) || isRule(index + 1)) return [];
    return [
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    ];
  });
}
