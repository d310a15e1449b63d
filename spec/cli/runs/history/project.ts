import { EventEmitter } from 'node:events';
import type Database from 'libsql';
import { systemContext } from '../../../../lib/cli/context.js';
import { loadHistoryDriver } from '../../../../lib/runs/store/shell/shell-file.js';
import { KeptRuns } from '../../../../lib/runs/store/shell/kept-runs.js';
import { openWriter } from '../../../../lib/runs/store/sqlite/thread/connection.js';
import { builtinCatalog } from '../../../../lib/tools/catalog.js';
import { defineTool } from '../../../../lib/tools/tool.js';
import { ControlledTool } from '../../../support/controlled-tool.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { type Invocation, invoke, type InvokeOptions } from '../../invoke.js';

/** The folder of a project, in which commands keep their runs. */
export class Project {
  readonly folder = new TemporaryFolder();
  /** Tasks and items that the tool `note` was called for, in order. */
  readonly noted: string[] = [];
  /** The tool `held`. */
  readonly held = new ControlledTool('held');
  processEvents = new EventEmitter();

  /** Runs a command line in the folder. */
  invoke(argv: readonly string[], options: InvokeOptions = {}): Promise<Invocation> {
    const note = defineTool({
      name: 'note',
      description: 'notes that it was called',
      inputs: {},
      openInputs: true,
      run: (inputs, { task_id, item_index }) => {
        this.noted.push(item_index === null ? task_id : `${task_id}[${item_index}]`);
        return inputs;
      },
    });
    return invoke(argv, {
      cwd: this.folder.path,
      keepsHistory: true,
      processEvents: this.processEvents,
      openCatalog: async () => builtinCatalog().with([note, this.held.tool]),
      ...options,
    });
  }

  /** The ids of the runs that are kept, the oldest first. */
  get runs(): string[] {
    return this.history.ids().toReversed();
  }

  get history(): KeptRuns {
    return KeptRuns.open(this.folder.at('.wavetrain'), systemContext().host, 0);
  }

  /** Everything that is kept, as text. */
  get kept(): string {
    return JSON.stringify(this.runs.map((id) => this.#pieces(id)));
  }

  /** As if the process had been killed before a task of the run had settled. */
  loseEnd(id: string, task: string): void {
    const { history } = this;
    const run = history.read(id);
    if (run === undefined) throw new Error(`there is no run ${id}`);
    const { facts } = history.withFacts(run);
    const { command, submission } = run;
    const first = facts.findIndex((fact) => 'task' in fact && fact.task === task);
    const documents = [{ ...submission, command }, facts.slice(0, first)];
    this.change((database) => {
      const [{ number } = { number: 0 }] = database
        .prepare('SELECT number FROM run WHERE id = ?')
        .all(id) as { number: number }[];
      database.prepare('DELETE FROM piece WHERE run = ?').run(number);
      const add = database.prepare('INSERT INTO piece (run, goes_on, text) VALUES (?, 0, ?)');
      for (const document of documents) add.run(number, JSON.stringify(document));
      database.prepare('UPDATE run SET state = 0, finished_at = NULL WHERE number = ?').run(number);
    });
  }

  /** Has the file of the history as another shell that is at work, until the function that is returned is called. */
  takeFile(): () => void {
    const file = openWriter(this.folder.at('.wavetrain/runs.db'), loadHistoryDriver());
    return () => file.close();
  }

  change(change: (database: Database.Database) => void): void {
    const file = openWriter(this.folder.at('.wavetrain/runs.db'), loadHistoryDriver());
    change(file.database);
    file.close();
  }

  #pieces(id: string): unknown {
    const { history } = this;
    const run = history.read(id);
    return run && history.withFacts(run);
  }

  remove(): void {
    this.folder.remove();
  }
}

/** `first` and then `second`, which calls another tool. */
export function twoTasks(tool: string, inputs = '{}'): string {
  return `id: two
goal: g
params: {city: {type: string, default: Oslo}}
tasks:
  - {id: first, tool: note, inputs: {city: "{{params.city}}"}}
  - {id: second, tool: ${tool}, inputs: ${inputs}, await: [first]}
`;
}
