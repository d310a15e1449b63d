import { pathOfRun } from '../../../../lib/common/wire/run-summary.js';
import { useEffect, useRef } from 'preact/hooks';
import type { NamedPipeline } from '../../../../lib/library/named-pipeline.js';
import { SNIPPETS, START_TEMPLATE, writeSnippet } from '../model/snippets.js';
import type { EditSession } from '../session/edit-session.js';
import { MOST_FILES, NO_FOLDER } from '../session/files.js';
import { editAddressOf } from '../session/opened.js';

/** The address of an empty text. */
const NEW = '/edit';

interface ToolbarProps {
  readonly session: EditSession;
  readonly onRun: () => void;
}

/** Names the open definition and where it is kept, and has the buttons for it. */
export function Toolbar({ session, onRun }: ToolbarProps) {
  const { pipeline, run } = session.opened;
  const isFile = session.fileId.value !== '';
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
            <a href={pathOfRun(run)}>
              <bdi>{run}</bdi>
            </a>
          </>
        )}
      </h1>
      <span class="kept">{describeState(isFile, isChanged)}</span>
      <span class="tools">
        {folder?.enabled === true && folder.pipelines.length > 0 && <OpenFile session={session} />}
        <Insert session={session} />
        {canSave && (
          <button
            type="button"
            title="Ctrl S"
            disabled={!isChanged && isFile}
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

function describeState(isFile: boolean, isChanged: boolean): string {
  if (isFile) return isChanged ? 'Changes kept in this browser' : 'Saved';
  return isChanged ? 'Kept in this browser' : '';
}

function OpenFile({ session }: { readonly session: EditSession }) {
  const { pipelines, next_cursor } = session.folder.value ?? NO_FOLDER;
  const { tenant } = session.opened;
  const named = pipelines.filter(({ id }) => id === session.fileId.value);
  // An address without a tenant names the default one, or that of the reader's key.
  const opened =
    named.find(({ tenant_id }) => tenant_id === (tenant || 'default')) ??
    (tenant === '' ? named[0] : undefined);
  return (
    <select
      aria-label="Open a definition"
      value={opened === undefined ? NEW : editAddressOf(opened)}
      onChange={(event) => {
        session.keepNow();
        window.location.assign(event.currentTarget.value);
      }}
    >
      <option value={NEW}>New definition</option>
      {pipelines.map((named) => (
        <option key={`${named.tenant_id}/${named.file}`} value={editAddressOf(named)}>
          {describeFile(named)}
        </option>
      ))}
      {next_cursor !== null && <option disabled>The first {MOST_FILES} are listed</option>}
    </select>
  );
}

function describeFile({ id, kind, ok, tenant_id }: NamedPipeline): string {
  const tenant = tenant_id === 'default' ? '' : `, tenant ${tenant_id}`;
  return `${id}${kind === 'plan' ? ' (plan)' : ''}${tenant}${ok ? '' : ', has errors'}`;
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
