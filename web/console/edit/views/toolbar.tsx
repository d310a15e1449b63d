import { useEffect, useRef } from 'preact/hooks';
import { SNIPPETS, START_TEMPLATE, writeSnippet } from '../model/snippets.js';
import type { EditSession } from '../session/edit-session.js';

interface ToolbarProps {
  readonly session: EditSession;
  readonly onRun: () => void;
}

/** What is open and where it is kept, and what can be done with it. */
export function Toolbar({ session, onRun }: ToolbarProps) {
  const { pipeline, run } = session.opened;
  const folder = session.folder.value;
  const isChanged = session.isChanged.value;
  const { status, isOk } = session.checker.state.value;
  const canSave = folder?.enabled === true && folder.writable;
  return (
    <div class="toolbar">
      <h1>
        {run === '' ? (
          <bdi>{pipeline || session.outline.value.id || 'New definition'}</bdi>
        ) : (
          <>
            From run{' '}
            <a href={`/runs/${encodeURIComponent(run)}`}>
              <bdi>{run}</bdi>
            </a>
          </>
        )}
      </h1>
      <span class="kept">{describeState(session, isChanged)}</span>
      <span class="tools">
        {folder?.enabled === true && folder.pipelines.length > 0 && <OpenFile session={session} />}
        <Insert session={session} />
        {canSave && (
          <button
            type="button"
            title="Ctrl S"
            disabled={!isChanged && pipeline !== ''}
            onClick={() => void session.save()}
          >
            Save
          </button>
        )}
        <button
          type="button"
          class="primary"
          title="Ctrl Enter"
          disabled={status === 'checked' && !isOk}
          onClick={onRun}
        >
          Run…
        </button>
      </span>
    </div>
  );
}

function describeState({ opened: { pipeline } }: EditSession, isChanged: boolean): string {
  if (pipeline !== '') return isChanged ? 'Changes kept in this browser' : 'Saved';
  return isChanged ? 'Kept in this browser' : '';
}

function OpenFile({ session }: { readonly session: EditSession }) {
  const { pipelines } = session.folder.value ?? { pipelines: [] };
  return (
    <select
      aria-label="Open a definition"
      value={session.opened.pipeline}
      onChange={(event) => {
        session.keepNow();
        const id = event.currentTarget.value;
        window.location.assign(id === '' ? '/edit' : `/edit?pipeline=${encodeURIComponent(id)}`);
      }}
    >
      <option value="">New definition</option>
      {pipelines.map(({ id, kind, ok }) => (
        <option key={id} value={id}>
          {id}
          {kind === 'plan' ? ' (plan)' : ''}
          {ok ? '' : ', has errors'}
        </option>
      ))}
    </select>
  );
}

/** A menu of pieces to insert: an example for an empty page, else tasks. */
function Insert({ session }: { readonly session: EditSession }) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const onPointer = ({ target }: PointerEvent): void => {
      if (menu.current?.open === true && !menu.current.contains(target as Node)) menu.current.open = false;
    };
    document.addEventListener('pointerdown', onPointer);
    return () => document.removeEventListener('pointerdown', onPointer);
  }, []);
  const close = (): void => {
    if (menu.current !== null) menu.current.open = false;
  };
  const { kind, parts } = session.outline.value;
  const hasTasks = kind === 'pipeline' && (parts.length > 0 || session.editor?.endsWithTasks === true);
  return (
    <details
      class="insert"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        close();
        menu.current?.querySelector('summary')?.focus();
      }}
    >
      <summary>Insert</summary>
      <ul>
        {!hasTasks && (
          <li>
            <button
              type="button"
              onClick={() => {
                close();
                session.replaceText(START_TEMPLATE);
                session.editor?.focus();
              }}
            >
              Example
              <span>A small pipeline that works; it replaces the text</span>
            </button>
          </li>
        )}
        {hasTasks &&
          SNIPPETS.map((snippet) => (
            <li key={snippet.title}>
              <button
                type="button"
                onClick={() => {
                  close();
                  session.editor?.insertTask((ids, indent) => writeSnippet(snippet, ids, indent));
                }}
              >
                {snippet.title}
                <span>{snippet.about}</span>
              </button>
            </li>
          ))}
      </ul>
    </details>
  );
}
