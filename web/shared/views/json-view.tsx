import { useState } from 'preact/hooks';
import type { Json } from '../../../lib/common/json/json.js';
import { formatInteger } from '../model/format.js';
import {
  type Before,
  isContainer,
  JSON_PAGE,
  type JsonRow,
  type JsonView,
  listJsonRows,
} from '../model/json-rows.js';

interface JsonTreeProps {
  readonly value: Json;
  /** The earlier value, to mark what has changed. */
  readonly before?: Before | undefined;
  readonly label: string;
}

/** A JSON value as a tree: large objects page by page, long strings piece by piece, and what has changed is marked. */
export function JsonTree({ value, before, label }: JsonTreeProps) {
  const [view, setView] = useState<JsonView>({ toggled: new Map(), pages: new Map() });
  const rows = listJsonRows(value, before, view);
  const toggle = (id: string, isOpen: boolean): void =>
    setView({ ...view, toggled: new Map(view.toggled).set(id, isOpen) });
  const showMore = (id: string): void =>
    setView({ ...view, pages: new Map(view.pages).set(id, (view.pages.get(id) ?? 1) + 1) });
  return (
    <div class="json" role="group" aria-label={label}>
      {rows.map((row) => (
        <Row key={row.id} row={row} onToggle={toggle} onMore={showMore} />
      ))}
    </div>
  );
}

interface RowProps {
  readonly row: JsonRow;
  readonly onToggle: (id: string, isOpen: boolean) => void;
  readonly onMore: (id: string) => void;
}

function Row({ row, onToggle, onMore }: RowProps) {
  const indent = { paddingLeft: `${(row.level - 1) * 14}px` };
  if (row.kind === 'more') {
    return (
      <div class="json-row" style={indent}>
        <button type="button" class="link" onClick={() => onMore(row.of)}>
          show {formatInteger(Math.min(JSON_PAGE, row.remaining))} more of {formatInteger(row.remaining)}
        </button>
      </div>
    );
  }
  const { id, key, value, isOpen, mark } = row;
  const name = key === null ? null : <KeyName name={key} />;
  return (
    <div class={`json-row${mark ? ` ${mark}` : ''}`} style={indent}>
      {isOpen === undefined ? (
        <>
          <span class="twist" aria-hidden="true" />
          {name}
          <Leaf value={value} />
        </>
      ) : (
        <button type="button" class="open" aria-expanded={isOpen} onClick={() => onToggle(id, !isOpen)}>
          <span class={`twist ${isOpen ? 'open' : 'closed'}`} aria-hidden="true" />
          {name}
          <span class="size">{sizeOf(value)}</span>
        </button>
      )}
      {mark && <span class="mark">{mark}</span>}
    </div>
  );
}

const LONGEST_KEY = 200;

function KeyName({ name }: { readonly name: string }) {
  const shown = name.length > LONGEST_KEY ? `${name.slice(0, LONGEST_KEY)}…` : name;
  return (
    <span class="key">
      <bdi>{shown}</bdi>:
    </span>
  );
}

function Leaf({ value }: { readonly value: Json }) {
  if (typeof value === 'string') return <LongText text={value} />;
  return <span class={value === null ? 'null' : typeof value}>{JSON.stringify(value)}</span>;
}

const FIRST_PIECE = 400;
const NEXT_PIECE = 20_000;

/** A string of any length: its beginning, and a button for more of it. */
function LongText({ text }: { readonly text: string }) {
  const [length, setLength] = useState(FIRST_PIECE);
  if (text.length <= length) return <bdi class="string">{JSON.stringify(text)}</bdi>;
  const hidden = text.length - length;
  return (
    <span>
      <bdi class="string">{`${JSON.stringify(text.slice(0, length)).slice(0, -1)}…`}</bdi>{' '}
      <button type="button" class="link" onClick={() => setLength(length + NEXT_PIECE)}>
        show {formatInteger(Math.min(NEXT_PIECE, hidden))} more of {formatInteger(hidden)} characters
      </button>
    </span>
  );
}

function sizeOf(value: Json): string {
  if (!isContainer(value)) return '';
  const size = Object.keys(value).length;
  return Array.isArray(value) ? `[${formatInteger(size)}]` : `{${formatInteger(size)}}`;
}
