import type { LiveEvent } from '../../../lib/execution/events/event.js';
import type { RunInputs } from '../../../lib/execution/run-inputs.js';
import type { Json } from '../../../lib/common/json.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import { defineTool } from '../../../lib/tools/tool.js';

/** A registry whose one tool, `say`, answers its input and notes that it was called. */
export class Reruns {
  readonly calls: string[] = [];
  /** Tasks whose tool throws. */
  readonly broken = new Set<string>();
  readonly events: LiveEvent[] = [];
  readonly registry = new RunRegistry({ onEvent: (event) => void this.events.push(event) });
  readonly #say = defineTool({
    name: 'say',
    description: 'answers what it is given',
    inputs: { text: { description: 'what to answer', required: true } },
    run: ({ text }, { task_id, item_index }) => {
      this.calls.push(item_index === null ? task_id : `${task_id}[${item_index}]`);
      if (this.broken.has(task_id)) throw new Error(`${task_id} is broken`);
      return text;
    },
  });

  /** Runs tasks, given as a YAML flow list. */
  async run(tasks: string, given: Omit<RunInputs, 'pipeline'> = {}, head = ''): Promise<RunRecord> {
    const text = `{id: spec, goal: be checked, ${head} tasks: [${tasks}]}`;
    const known = { inputs: given.inputs ?? {}, session: given.session ?? {} };
    const pipeline = parsePipeline(text, { tools: [this.#say], ...known });
    return this.registry.settled(await this.registry.submit({ pipeline, ...given }));
  }

  /** Reruns, and answers the record with what was called for it. */
  async rerun(
    runId: string,
    from?: string,
  ): Promise<{ record: RunRecord; calls: string[]; outputs: Json | undefined }> {
    this.calls.length = 0;
    this.events.length = 0;
    const record = await this.registry.settled(await this.registry.rerun(runId, from));
    return { record, calls: [...this.calls], outputs: record.result?.outputs };
  }
}

/** a and b, then c of a, then d of b and c. */
export const DIAMOND = `
  {id: a, tool: say, inputs: {text: A}}, {id: b, tool: say, inputs: {text: B}},
  {id: c, tool: say, inputs: {text: "{{a.output}}C"}},
  {id: d, tool: say, inputs: {text: "{{b.output}}{{c.output}}D"}}`;
export const DIAMOND_OUTPUTS = { a: 'A', b: 'B', c: 'AC', d: 'BACD' };
