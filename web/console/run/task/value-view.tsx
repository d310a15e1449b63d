import { useMemo, useState } from 'preact/hooks';
import type { Json } from '../../../../lib/common/json/json.js';
import { JsonTree } from '../../../shared/views/json-view.js';
import { searchJson } from '../model/values.js';
import { CopyButton } from '../../shell/copy-button.js';
import { saveFile } from '../../../shared/views/file-link.js';

/** From so many characters on, a value can be searched and is folded to its first levels. */
const LONG = 1500;

interface ValueViewProps {
  readonly title: string;
  readonly value: Json;
  /** The name, without its end, of the file that the value is saved as. */
  readonly name: string;
}

/** A JSON value with its title: to be searched when it is long, copied, and saved. */
export function ValueView({ title, value, name }: ValueViewProps) {
  const [text, setText] = useState('');
  const json = useMemo(() => JSON.stringify(value, undefined, 2), [value]);
  const shown = useMemo(() => (text.trim() === '' ? value : searchJson(value, text)), [value, text]);
  const copied = typeof value === 'string' ? value : json;
  return (
    <section class="value" aria-label={title}>
      <h3>
        {title}
        <span class="tools">
          {json.length >= LONG && (
            <input
              type="search"
              aria-label={`Search in ${title}`}
              placeholder="Search"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          )}
          <CopyButton text={copied}>Copy</CopyButton>
          <button
            type="button"
            onClick={() => saveFile(new Blob([json], { type: 'application/json' }), `${name}.json`)}
          >
            Save
          </button>
        </span>
      </h3>
      {shown === undefined ? (
        <p class="empty">Nothing in it matches.</p>
      ) : (
        <JsonTree key={text} value={shown} label={title} />
      )}
    </section>
  );
}
