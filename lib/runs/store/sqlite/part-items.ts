import { endOfPiece } from '../../../common/text.js';
import { type FactSubject, subjectOf } from '../../../execution/history/fact-subject.js';
import type { WantedItems, StoredFact } from '../run-store.js';

/** The text of a part whose documents are not cut is about as long, in UTF-16 code units. */
const PART_LENGTH = 256 * 1024;

/** A part of facts is about as long: so much is read to show any of its items. */
const FACTS_LENGTH = 64 * 1024;

/** Facts of items are not kept in one part with others when that part would be longer. */
const MIXED_LENGTH = FACTS_LENGTH / 4;

/** The first and the last item that a part is about, by the place and the task. */
type PartItems = Readonly<Record<string, readonly [first: number, last: number]>>;

/** A part of the texts of a run. */
export interface TextPart {
  readonly text: string;
  /** JSON of the items that the part is about, when it is whole documents about nothing else; null for others. */
  readonly items: string | null;
}

/** The first of some texts: the submission, the rest of a document, or a document of facts. */
export type TextBeginning = 'submission' | 'rest' | 'facts';

/** Returns true when those who look at nothing but some items of a fan-out need not read a part. @param items of the part */
export function canSkip(items: string | null, { place, task, first, last }: WantedItems): boolean {
  if (items === null) return false;
  const range = Object.entries(JSON.parse(items) as PartItems);
  const key = keyOf(place, task);
  return range.every(([of, [from, to]]) => of === key && (to < first || last < from));
}

/**
 * Cuts texts of a run into parts. Documents of facts are cut between facts, so that parts are about few items, and nothing else;
 * a fact that is longer than a part stays whole.
 *
 * @param texts documents as JSON, each with a line break at its end
 */
export function cutParts(texts: readonly string[], beginning: TextBeginning): TextPart[] {
  const whole = texts.join('');
  // Most runs.
  if (beginning === 'submission' && whole.length < PART_LENGTH) return [{ text: whole, items: null }];
  const lines = whole.split('\n');
  // The last document may go on with other texts.
  const unfinished = lines.pop() ?? '';
  const parts = new PartWriter();
  for (const [index, line] of lines.entries()) {
    if (index === 0 && beginning !== 'facts') parts.addText(`${line}\n`);
    else for (const fact of JSON.parse(line) as StoredFact[]) parts.addFact(fact);
  }
  if (unfinished !== '') parts.addText(unfinished);
  return parts.end();
}

class PartWriter {
  readonly #parts: TextPart[] = [];
  #text = '';
  /** The list of facts that is being written, without its end. */
  #list = '';
  /** Undefined when everybody needs the part. */
  #items: Map<string, [first: number, last: number]> | undefined = new Map();

  /** Adds a text that is no whole document of facts. */
  addText(text: string): void {
    if (this.#length > MIXED_LENGTH) this.#flush();
    this.#endList();
    this.#items = undefined;
    for (let start = 0; start < text.length; ) {
      const end = endOfPiece(text, start, PART_LENGTH);
      this.#text += text.slice(start, end);
      if (this.#length >= PART_LENGTH) this.#flush(end < text.length);
      start = end;
    }
  }

  addFact(fact: StoredFact): void {
    const subject = 'part' in fact ? 'run' : subjectOf(fact);
    const isMixed = (subject === 'run') === (this.#items !== undefined);
    const isFull = this.#length >= (isMixed ? MIXED_LENGTH : FACTS_LENGTH);
    if (subject !== 'nothing' ? isFull : this.#length >= FACTS_LENGTH) this.#flush();
    this.#count(subject);
    const text = JSON.stringify(fact);
    this.#list += this.#list === '' ? `[${text}` : `,${text}`;
  }

  #count(subject: FactSubject): void {
    if (subject === 'run') this.#items = undefined;
    if (typeof subject === 'string' || this.#items === undefined) return;
    const { place, task, item } = subject;
    const key = keyOf(place, task);
    const range = this.#items.get(key);
    if (range === undefined) this.#items.set(key, [item, item]);
    else {
      range[0] = Math.min(range[0], item);
      range[1] = Math.max(range[1], item);
    }
  }

  get #length(): number {
    return this.#text.length + this.#list.length;
  }

  #endList(): void {
    if (this.#list !== '') this.#text += `${this.#list}]\n`;
    this.#list = '';
  }

  /** @param isOpen the next part begins inside a document */
  #flush(isOpen = false): void {
    this.#endList();
    if (this.#text !== '') {
      const items = this.#items && JSON.stringify(Object.fromEntries(this.#items));
      this.#parts.push({ text: this.#text, items: items ?? null });
    }
    this.#text = '';
    this.#items = isOpen ? undefined : new Map();
  }

  end(): TextPart[] {
    this.#flush();
    return this.#parts;
  }
}

function keyOf(place: string, task: string): string {
  return `${place} ${task}`;
}
