import { expect } from 'chai';
import { EMPTY_OUTLINE, type Outline } from '../../../web/console/edit/model/outline.js';
import { EditSession, type TextEditor } from '../../../web/console/edit/session/edit-session.js';
import { Server } from '../../../web/shared/server/server.js';
import { FakeStorage } from './fake-storage.js';

/** The folder of a server with one file, of which a spec decides what is in it. */
class OneFile {
  text: string | undefined = 'first';
  version = 'v1';
  readonly saves: { readonly condition: string | null; readonly text: string }[] = [];
  /** Where texts were sent to be checked or run. */
  readonly posts: string[] = [];
  readonly server = new Server(new FakeStorage(), (path: unknown, init) =>
    Promise.resolve(this.#answer(String(path), init)),
  );

  /** Somebody saves the file. */
  change(text: string): void {
    this.text = text;
    this.version = `v${Number(this.version.slice(1)) + 1}`;
  }

  #answer(path: string, { method = 'GET', headers, body }: RequestInit = {}): Response {
    if (method === 'POST') this.posts.push(path);
    if (path === '/pipelines?limit=500') {
      return Response.json({ enabled: true, writable: true, pipelines: [], next_cursor: null });
    }
    if (path === '/pipelines/runs/r1/definition') return Response.json({ yaml: 'of the run' });
    if (path !== '/pipelines/daily/file') return Response.json({ metadata: [] });
    if (method === 'PUT') {
      const sent = JSON.parse(body as string) as { text: string };
      const condition = new Headers(headers).get('If-Match');
      this.saves.push({ condition, text: sent.text });
      if (condition !== this.version) {
        return Response.json({ detail: { code: 'file_changed', message: 'changed' } }, { status: 409 });
      }
      this.change(sent.text);
      return Response.json({ version: this.version, problems: [] });
    }
    if (this.text === undefined) return Response.json({ detail: { code: 'not_found' } }, { status: 404 });
    return Response.json({ file: 'daily.yaml', text: this.text, version: this.version });
  }
}

/** Holds a text as CodeMirror does: with `\n` at the end of each line, whatever it was given. */
class FakeEditor implements TextEditor {
  outline: Outline = { ...EMPTY_OUTLINE, id: 'daily' };
  readonly endsWithTasks = false;
  text: string;

  constructor(text: string) {
    this.text = text.replace(/\r\n?/g, '\n');
  }

  setText(text: string): void {
    this.text = text.replace(/\r\n?/g, '\n');
  }

  showProblems(): void {}
  applyFix(): void {}
  goTo(): void {}
  goToPart(): void {}
  insertTask(): void {}
  focus(): void {}
  destroy(): void {}
}

interface OpenPage {
  readonly session: EditSession;
  readonly editor: FakeEditor;
}

describe('A page of the editor', () => {
  let file: OneFile;
  let storage: FakeStorage;
  let left: string[];
  let timers: { readonly task: () => void; readonly milliseconds: number }[];

  beforeEach(() => {
    left = [];
    timers = [];
    file = new OneFile();
    storage = new FakeStorage();
  });

  async function open(tab = '1', opened: { pipeline?: string; run?: string } = {}): Promise<OpenPage> {
    const session = new EditSession(
      file.server,
      { pipeline: 'daily', tenant: '', run: '', task: '', ...opened },
      {
        storage,
        tab,
        now: () => 1,
        timers: {
          set: (task, milliseconds) => timers.push({ task, milliseconds }),
          clear: () => undefined,
        },
        leaveFor: (address) => left.push(address),
      },
    );
    const editor = new FakeEditor(await session.load());
    session.attach(editor);
    return { session, editor };
  }

  function type({ session, editor }: OpenPage, text: string): void {
    editor.text = text;
    session.keepNow();
  }

  /** Types on the first version, and opens the page again after somebody has saved a second one. */
  async function reopenOnSecondVersion(): Promise<OpenPage> {
    const before = await open();
    type(before, 'mine');
    before.session.close();
    file.change('theirs');
    return open('2');
  }

  it('asks before the text of a run replaces the file of its id, and stays with the run after it has', async () => {
    const { session } = await open('1', { pipeline: '', run: 'r1' });
    expect(await session.save()).to.equal(false);
    expect(session.conflict.value).to.include({ kind: 'exists', text: 'first' });
    session.dropConflict();
    expect(file.text).to.equal('first');
    await session.save();
    await session.replaceFile();
    expect([file.text, session.conflict.value, left]).to.deep.equal(['of the run', undefined, []]);
    expect(await session.save()).to.equal(true);
  });

  it('saves the changed text of a run without a question while the file is as the run had it, and names the file', async () => {
    file.text = 'of the run';
    const { session, editor } = await open('1', { pipeline: '', run: 'r1' });
    expect(session.fileId.value).to.equal('');
    editor.text = 'fixed';
    expect(await session.save()).to.equal(true);
    expect([file.text, session.conflict.value, session.fileId.value]).to.deep.equal([
      'fixed',
      undefined,
      'daily',
    ]);
    file.change('theirs');
    editor.text = 'fixed again';
    expect(await session.save()).to.equal(false);
    expect(session.conflict.value).to.include({ kind: 'file', text: 'theirs' });
  });

  it('says that a text without a file was restored, and empties the page when that is wanted', async () => {
    const before = await open('1', { pipeline: '' });
    type(before, 'new');
    before.session.close();
    const { session, editor } = await open('2', { pipeline: '' });
    expect([session.isRestored.value, editor.text]).to.deep.equal([true, 'new']);
    session.discardDraft();
    expect(editor.text).to.equal('');
  });

  it('shows what somebody has saved since a draft was typed, before the draft can replace it', async () => {
    const { session, editor } = await reopenOnSecondVersion();
    expect(editor.text).to.equal('mine');
    expect(session.conflict.value).to.deep.include({ kind: 'file', text: 'theirs' });
    session.conflict.value = undefined;
    expect(await session.save()).to.equal(false);
    expect(file.saves).to.deep.equal([{ condition: 'v1', text: 'mine' }]);
    expect(file.text).to.equal('theirs');
  });

  it('asks again after a reload for as long as nobody has chosen', async () => {
    const page = await reopenOnSecondVersion();
    type(page, 'mine and more');
    page.session.close();
    const { session } = await open('3');
    expect(session.conflict.value).to.deep.include({ kind: 'file', text: 'theirs' });
  });

  it('replaces the version that it has shown, once its own text was chosen, also after a reload', async () => {
    const page = await reopenOnSecondVersion();
    page.session.choose('mine');
    page.session.close();
    const { session } = await open('3');
    expect(session.conflict.value).to.equal(undefined);
    expect(await session.save()).to.equal(true);
    expect(file.saves).to.deep.equal([{ condition: 'v2', text: 'mine' }]);
  });

  it('says that the file of a draft is gone', async () => {
    const before = await open();
    type(before, 'mine');
    before.session.close();
    file.text = undefined;
    const { session } = await open('2');
    expect(session.conflict.value?.kind).to.equal('gone');
  });

  it('asks nothing when the draft is what somebody has saved', async () => {
    const before = await open();
    type(before, 'theirs');
    before.session.close();
    file.change('theirs');
    const { session } = await open('2');
    expect([session.conflict.value, session.isChanged.value]).to.deep.equal([undefined, false]);
  });

  it('gives the file of today for a draft that is discarded', async () => {
    const { session, editor } = await reopenOnSecondVersion();
    session.discardDraft();
    expect(editor.text).to.equal('theirs');
    editor.text = 'theirs and mine';
    expect(await session.save()).to.equal(true);
    expect(file.saves).to.deep.equal([{ condition: 'v2', text: 'theirs and mine' }]);
  });

  it('takes the text of another tab with the version that it was made from', async () => {
    const old = await open('1');
    file.change('theirs');
    const fresh = await open('2');
    type(old, 'of the first version');
    fresh.session.lookForOther();
    fresh.session.choose('theirs');
    expect(fresh.editor.text).to.equal('of the first version');
    expect(await fresh.session.save()).to.equal(false);
    expect(file.text).to.equal('theirs');
  });

  for (const [name, lineEnd] of [
    ['CRLF', '\r\n'],
    ['LF', '\n'],
  ] as const) {
    it(`leaves the line ends of a file with ${name} as they are`, async () => {
      file.text = `first${lineEnd}second${lineEnd}`;
      const page = await open();
      expect(page.session.isChanged.value).to.equal(false);
      page.session.keepNow();
      expect(storage.length, 'drafts that nobody has typed').to.equal(0);
      type(page, 'first\nsecond\nthird\n');
      await page.session.save();
      expect(file.text).to.equal(`first${lineEnd}second${lineEnd}third${lineEnd}`);
      expect(page.session.isChanged.value).to.equal(false);
    });
  }

  it('takes the line ends that somebody else has given to the file', async () => {
    const page = await open();
    file.change('first\r\nsecond\r\n');
    await page.session.lookAtFile();
    page.session.choose('theirs');
    expect(page.editor.text).to.equal('first\nsecond\n');
    type(page, 'second\n');
    await page.session.save();
    expect(file.text).to.equal('second\r\n');
  });

  it('writes the line end that most lines of a mixed file have', async () => {
    file.text = 'a\r\nb\r\nc\n';
    const page = await open();
    type(page, 'a\n\nb\nc\n');
    await page.session.save();
    expect(file.text).to.equal('a\r\n\r\nb\r\nc\r\n');
  });

  it('takes Escape for no choice when the file has changed: a save asks again', async () => {
    const page = await open();
    type(page, 'mine');
    file.change('theirs');
    await page.session.lookAtFile();
    page.session.chooseLater();
    expect(page.session.isChoiceOpen.value).to.equal(false);
    await page.session.lookAtFile();
    expect(page.session.isChoiceOpen.value).to.equal(false);
    expect(await page.session.save()).to.equal(false);
    expect(page.session.isChoiceOpen.value).to.equal(true);
    expect([file.text, page.editor.text]).to.deep.equal(['theirs', 'mine']);
  });

  it('takes Escape for no choice when another tab has a newer text, and replaces neither', async () => {
    const [one, two] = [await open('1'), await open('2')];
    type(two, 'of two');
    one.session.lookForOther();
    one.session.chooseLater();
    type(one, 'of one');
    expect(one.session.isChoiceOpen.value).to.equal(false);
    expect([...storage.items.values()].join(''))
      .to.contain('of two')
      .and.not.contain('of one');
    expect(one.editor.text).to.equal('of one');
    await one.session.save();
    expect([...storage.items.values()].join(''), 'after a save').to.contain('of two');
  });

  it('asks at once when another tab has typed on after the choice was put off', async () => {
    const [one, two] = [await open('1'), await open('2')];
    type(two, 'of two');
    one.session.lookForOther();
    one.session.chooseLater();
    type(two, 'of two and more');
    one.session.lookForOther();
    expect(one.session.isChoiceOpen.value).to.equal(true);
    expect(one.session.conflict.value?.text).to.equal('of two and more');
  });

  it('checks, saves and runs a text as what it has just become, however soon after it was pasted', async () => {
    const { session, editor } = await open('1', { pipeline: '' });
    timers = [];
    editor.outline = { ...EMPTY_OUTLINE, kind: 'plan', id: 'trip' };
    editor.text = 'a plan';
    session.changed();
    timers.sort((a, b) => a.milliseconds - b.milliseconds)[0]?.task();
    await session.run({ params: {}, inputs: {}, session: {} });
    expect(file.posts).to.deep.equal(['/plans/validate?paths=true', '/plans/run_async']);
    editor.outline = { ...EMPTY_OUTLINE, id: 'daily' };
    await session.run({ params: {}, inputs: {}, session: {} });
    expect(file.posts.at(-1)).to.equal('/pipelines/run_async');
    editor.outline = { ...EMPTY_OUTLINE, id: 'other' };
    await session.save();
    expect(session.outline.value.id).to.equal('other');
  });
});
