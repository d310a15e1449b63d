import { EventEmitter } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemContext } from '../../../../lib/cli/context.js';
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
  /** Processes that are there, besides this one. */
  readonly alive = new Set<number>();
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
      host: { ...systemContext().host, bootedAt: 0, isAlive: (pid) => this.alive.has(pid) },
      ...options,
    });
  }

  /** The ids of the runs that are kept, the oldest first. */
  get runs(): string[] {
    const names = readdirSync(this.folder.path);
    return names.includes('.wavetrain') ? readdirSync(this.folder.at('.wavetrain/runs')).toSorted() : [];
  }

  /** Everything that is kept, as text. */
  get kept(): string {
    const runs = this.runs.flatMap((id) => {
      const folder = this.folder.at(join('.wavetrain/runs', id));
      return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    });
    return runs.join('\n');
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
