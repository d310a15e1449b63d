import { useState } from 'preact/hooks';
import type { EditableDefinition } from '../../../../lib/runs/views/submission-view.js';
import { formatInteger } from '../../../shared/model/format.js';
import { saveFile } from '../../../shared/views/file-link.js';
import { JsonTree } from '../../../shared/views/json-view.js';
import type { DiffHunk, DiffLine } from '../model/line-diff.js';
import { type ComparedSubmissions, textOf } from '../model/submission-comparison.js';

/** Lines of the difference that are shown at once; a button shows as many more. */
const MORE_LINES = 500;

/** A longer line is cut: what is saved has all of it. */
const LONGEST_LINE = 2000;

/** The differences between what two runs were given: the lines of the definition, and values. */
export function SubmissionDifferences({ compared }: { readonly compared: ComparedSubmissions }) {
  const { definition, values } = compared;
  const differing = new Set<string>(values.map(({ name }) => name));
  if (definition.kind !== 'none') differing.add('definition');
  const same = ['definition', 'params', 'inputs', 'session', 'options'].filter(
    (name) => !differing.has(name),
  );
  return (
    <>
      {definition.kind !== 'none' && (
        <section aria-label="Difference of the definition">
          <h3>
            Definition
            <span class="tools">
              <SaveButton submitted={compared.before} name="definition-before">
                Save the earlier one
              </SaveButton>
              <SaveButton submitted={compared.after} name="definition-after">
                Save this one
              </SaveButton>
            </span>
          </h3>
          {definition.kind === 'large' ? (
            <p class="about">
              The definitions differ, in more than can be shown here. Save both, and compare the files.
            </p>
          ) : (
            <>
              {!definition.isMeant && (
                <p class="about">
                  They mean the same: the texts differ in comments or in how they are written.
                </p>
              )}
              <Hunks hunks={definition.hunks} />
            </>
          )}
        </section>
      )}
      {values.map(({ name, before, after }) => (
        <section key={name} aria-label={`Difference of the ${name}`}>
          <h3>{TITLES[name]}</h3>
          <JsonTree value={after} before={{ value: before }} label={TITLES[name]} />
        </section>
      ))}
      {same.length > 0 && <p class="about same">The same in both runs: {same.join(', ')}.</p>}
    </>
  );
}

const TITLES = { params: 'Params', inputs: 'Inputs', session: 'Session', options: 'Options' } as const;

interface SaveButtonProps {
  readonly submitted: EditableDefinition;
  readonly name: string;
  readonly children: string;
}

function SaveButton({ submitted, name, children }: SaveButtonProps) {
  const file = `${name}.${submitted.yaml === null ? 'json' : 'yaml'}`;
  return (
    <button type="button" onClick={() => saveFile(new Blob([textOf(submitted)]), file)}>
      {children}
    </button>
  );
}

function Hunks({ hunks }: { readonly hunks: readonly DiffHunk[] }) {
  const [limit, setLimit] = useState(MORE_LINES);
  const count = hunks.reduce((sum, { lines }) => sum + lines.length, 0);
  let left = limit;
  return (
    <div class="line-diff">
      {hunks.map(({ before, after, lines }) => {
        if (left <= 0) return null;
        const shown = lines.slice(0, left);
        left -= shown.length;
        return (
          <div key={after} class="hunk">
            <p class="src">{before === after ? `line ${after}` : `line ${after}, before line ${before}`}</p>
            {shown.map((line, index) => (
              <Line key={index} line={line} />
            ))}
          </div>
        );
      })}
      {count > limit && (
        <button type="button" class="link" onClick={() => setLimit(limit + MORE_LINES)}>
          show {formatInteger(Math.min(MORE_LINES, count - limit))} more of {formatInteger(count - limit)}{' '}
          lines
        </button>
      )}
    </div>
  );
}

const SIGNS: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', added: '+', removed: '−' };

function Line({ line: { kind, text } }: { readonly line: DiffLine }) {
  const hidden = text.length - LONGEST_LINE;
  const shown = <bdi>{text.slice(0, LONGEST_LINE)}</bdi>;
  return (
    <div class={`diff-line ${kind}`}>
      <span class="sign" aria-hidden="true">
        {SIGNS[kind]}
      </span>
      {kind !== 'same' && <span class="hidden-text">{kind}: </span>}
      {kind === 'added' ? <ins>{shown}</ins> : kind === 'removed' ? <del>{shown}</del> : shown}
      {hidden > 0 && <span class="src">… {formatInteger(hidden)} more characters</span>}
    </div>
  );
}
