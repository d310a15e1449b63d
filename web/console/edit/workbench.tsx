import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Server } from '../../shared/server/server.js';
import type { Zoom } from '../../shared/model/zoom.js';
import { Notice } from '../../shared/views/notices.js';
import { panelOf, Tabs } from '../../shared/views/tabs.js';
import { CodeEditor } from './code/code-editor.js';
import { outlineOfText } from './code/outline-of.js';
import { inlinedParts } from './model/outline.js';
import { START_TEMPLATE } from './model/snippets.js';
import { EditSession } from './session/edit-session.js';
import type { Opened } from './session/opened.js';
import { CompilePane } from './views/compile-pane.js';
import { DiffDialog } from './views/diff-dialog.js';
import { GraphPane } from './views/graph-pane.js';
import { ProblemsPane } from './views/problem-list.js';
import { RunPane, type TypedValues } from './views/run-pane.js';
import { TestsPane } from './views/tests-pane.js';
import { Toolbar } from './views/toolbar.js';

const TABS = ['graph', 'run', 'tests', 'compile'] as const;

type Tab = (typeof TABS)[number];

const TITLES: Readonly<Record<Tab, string>> = {
  graph: 'Graph',
  run: 'Run',
  tests: 'Tests',
  compile: 'Write with a model',
};

/** The first field of the form that starts a run; its button when there is none. */
const FIRST_FIELD =
  '.run-pane > .params-form :is(input, select, textarea), .run-pane > .param > textarea, .run-pane button.primary';

/** How often the file of the server is looked at while the page is visible. */
const LOOK_MS = 5000;

interface WorkbenchProps {
  readonly server: Server;
  readonly opened: Opened;
}

/** The text beside its graph, with its problems below, and what runs it. */
export function Workbench({ server, opened }: WorkbenchProps) {
  const session = useMemo(
    () => createSession(server, opened),
    [server, opened.pipeline, opened.tenant, opened.run],
  );
  const [tab, setTab] = useState<Tab>(opened.run === '' ? 'graph' : 'run');
  const [values, setValues] = useState<TypedValues>({ params: {}, inputs: '', session: '' });
  const [zoom, setZoom] = useState<Zoom>('auto');
  const showRun = (): void => {
    setTab('run');
    // The pane may come into being only now.
    window.requestAnimationFrame(() => document.querySelector<HTMLElement>(FIRST_FIELD)?.focus());
  };
  useKeeping(session);
  useKeys({ s: () => void session.save(), Enter: showRun });
  const source = session.source.value;
  useEffect(() => {
    if (source === undefined) return;
    const { params, inputs, session: sessionValues } = source;
    setValues({ params, inputs: showObject(inputs), session: showObject(sessionValues) });
  }, [source]);
  return (
    <main class="workbench">
      <Toolbar session={session} onRun={showRun} />
      <Messages session={session} />
      <div class="halves">
        <section class="text-half" aria-label="Text">
          <Text session={session} onRun={showRun} />
          <ProblemsPane session={session} />
        </section>
        <section class="side-half" aria-label="Graph and run">
          <Tabs
            name="edit"
            label="Views"
            tabs={TABS}
            current={tab}
            titleOf={(name) => TITLES[name]}
            onSelect={setTab}
          />
          <div class="side" {...panelOf('edit', tab)} tabIndex={0}>
            {tab === 'graph' && <GraphPane session={session} zoom={zoom} onZoom={setZoom} />}
            {tab === 'run' && <RunPane session={session} values={values} onChange={setValues} />}
            <div class="kept-pane" hidden={tab !== 'tests'}>
              <TestsPane session={session} />
            </div>
            <div class="kept-pane" hidden={tab !== 'compile'}>
              <CompilePane session={session} />
            </div>
          </div>
        </section>
      </div>
      <Conflict session={session} />
    </main>
  );
}

function createSession(server: Server, opened: Opened): EditSession {
  const tab = window.crypto.getRandomValues(new Uint32Array(2)).join('-');
  return new EditSession(server, opened, {
    storage: window.localStorage,
    tab,
    now: () => Date.now(),
    timers: {
      set: (task, milliseconds) => window.setTimeout(task, milliseconds),
      clear: (timer) => window.clearTimeout(timer),
    },
    leaveFor: (address) => window.location.assign(address),
  });
}

function showObject(value: object): string {
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value, undefined, 2);
}

/** Keys with Ctrl or ⌘ that act wherever the focus is; in the text, the editor has them. */
function useKeys(commands: Readonly<Record<string, () => void>>): void {
  const current = useRef(commands);
  current.current = commands;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const command = event.ctrlKey || event.metaKey ? current.current[event.key] : undefined;
      if (command === undefined || event.defaultPrevented || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      command();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** Keeps drafts when the page goes, notices other tabs, and looks at the file of the server from time to time. */
function useKeeping(session: EditSession): void {
  useEffect(() => {
    const keep = (): void => session.keepNow();
    const look = (): void => session.lookForOther();
    window.addEventListener('pagehide', keep);
    window.addEventListener('storage', look);
    // The checks of the text say that the server is away, so a failed look says nothing.
    const timer = window.setInterval(() => {
      if (!document.hidden) void session.lookAtFile().catch(() => undefined);
    }, LOOK_MS);
    return () => {
      window.removeEventListener('pagehide', keep);
      window.removeEventListener('storage', look);
      window.clearInterval(timer);
      session.close();
    };
  }, [session]);
}

interface TextProps {
  readonly session: EditSession;
  readonly onRun: () => void;
}

const STALE_FIX =
  'Nothing was fixed: the text has changed there since the check. Fix it when it has been checked again.';

/** The text editor. Preact draws only the box around it. */
function Text({ session, onRun }: TextProps) {
  const box = useRef<HTMLDivElement>(null);
  const { problems, text: checked } = session.checker.state.value;
  useEffect(() => {
    let isGone = false;
    void session.load().then((text) => {
      const parent = box.current;
      if (isGone || parent === null) return;
      const editor = new CodeEditor({
        parent,
        text,
        vocabulary: () => session.language && { ...session.language, paths: session.checker.paths },
        onChange: () => session.changed(),
        onPart: (id) => (session.part.value = id),
        onSave: () => void session.save(),
        onRun,
        onStaleFix: () => (session.notice.value = { text: STALE_FIX }),
      });
      session.attach(editor);
      editor.goToPart(session.opened.task);
      editor.focus();
    });
    return () => {
      isGone = true;
    };
  }, [session]);
  useEffect(() => session.editor?.showProblems(problems, checked), [session, problems, checked]);
  const isEmpty =
    !session.isLoading.value && session.outline.value.root === undefined && !session.isChanged.value;
  return (
    <div class="code" ref={box}>
      {session.isLoading.value && <p class="empty">Loading…</p>}
      {isEmpty && (
        <p class="start">
          <button type="button" onClick={() => session.replaceText(START_TEMPLATE)}>
            Start with a small example
          </button>
        </p>
      )}
    </div>
  );
}

function Messages({ session }: { readonly session: EditSession }) {
  const notice = session.notice.value;
  const conflict = session.conflict.value;
  return (
    <>
      {conflict !== undefined && !session.isChoiceOpen.value && (
        <Notice>
          {CONFLICTS[conflict.kind].title}. {CONFLICTS[conflict.kind].later}{' '}
          <button type="button" class="link" onClick={() => (session.isChoiceOpen.value = true)}>
            Compare and choose
          </button>
        </Notice>
      )}
      {notice !== undefined && (
        <Notice {...(notice.tone && { tone: notice.tone })}>
          {notice.text}{' '}
          <button type="button" class="link" onClick={() => (session.notice.value = undefined)}>
            Close
          </button>
        </Notice>
      )}
      {session.isRestored.value && (
        <Notice>
          What you had typed here was restored from this browser.{' '}
          <button type="button" class="link" onClick={() => session.discardDraft()}>
            Discard it
          </button>
        </Notice>
      )}
    </>
  );
}

const SAVE_ASKS = 'Nothing is saved before you choose.';

const CONFLICTS = {
  tab: {
    title: 'Another tab has a newer text',
    about: 'This definition was changed in another tab of this browser. Nothing of it is lost yet.',
    label: 'The other tab',
    take: 'Take the text of the other tab',
    later: 'What you type here is not kept until you choose.',
  },
  file: {
    title: 'The file has changed',
    about:
      'Somebody has saved this file since you opened it. With your text kept, the next save replaces it.',
    label: 'The file now',
    take: 'Take the file',
    later: SAVE_ASKS,
  },
  exists: {
    title: 'There is a definition of this id already',
    about: 'The folder of the server has a definition of this id in that file already.',
    label: 'The file now',
    take: 'Replace the file',
    later: SAVE_ASKS,
  },
  gone: {
    title: 'The file is gone',
    about: 'Somebody has deleted this file. With your text kept, the next save creates it again.',
    label: 'The file now',
    take: 'Empty the text',
    later: SAVE_ASKS,
  },
} as const;

const MOST_NAMED = 5;

/** Says what becomes of the files of pipelines that a text has in place. */
function describeInlined(ids: readonly string[]): string | undefined {
  if (ids.length === 0) return undefined;
  const more = ids.length > MOST_NAMED ? ` and ${(ids.length - MOST_NAMED).toLocaleString('en')} more` : '';
  const named = `${ids.slice(0, MOST_NAMED).join(', ')}${more}`;
  return `Your text has copies of these pipelines, which the file takes from files of their own: ${named}. If it is replaced, the plan does not use those files any more, and what is changed in them later has no effect on it. To keep them, change the files instead.`;
}

/** Offers the choice between the own text and another one, with what differs. */
function Conflict({ session }: { readonly session: EditSession }) {
  const conflict = session.conflict.value;
  if (conflict === undefined || !session.isChoiceOpen.value) return null;
  const { title, about, label, take } = CONFLICTS[conflict.kind];
  const mine = { label: 'Your text', text: session.text };
  const theirs = { label, text: conflict.text };
  // The text on the right takes the place of the text on the left.
  if (conflict.kind === 'exists') {
    return (
      <DiffDialog
        {...{ about, take }}
        title={`Replace ${conflict.file}?`}
        warning={describeInlined(inlinedParts(session.outline.value, outlineOfText(conflict.text)))}
        before={theirs}
        after={mine}
        keep="Do not save"
        onKeep={() => session.dropConflict()}
        onTake={() => void session.replaceFile()}
      />
    );
  }
  return (
    <DiffDialog
      {...{ title, about, take }}
      before={mine}
      after={theirs}
      keep="Keep my text"
      onKeep={() => session.choose('mine')}
      onTake={() => session.choose('theirs')}
      onClose={() => session.chooseLater()}
    />
  );
}
