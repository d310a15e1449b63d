import type { LiveEvent } from '../../../lib/execution/events/event.js';
import type { RunInputs } from '../../../lib/execution/run-inputs.js';
import type { Json } from '../../../lib/common/json.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import { defineTool } from '../../../lib/tools/tool.js';

/** A registry with one tool, `echo`, which returns its input and records its calls. */
export class Reruns {
  readonly calls: string[] = [];
  /** Tasks whose tool throws. */
  readonly broken = new Set<string>();
  readonly events: LiveEvent[] = [];
  readonly registry = new RunRegistry({ onEvent: (event) => void this.events.push(event) });
  readonly #echo = defineTool({
    name: 'echo',
    description: 'returns its input',
    inputs: { text: { description: 'the text to return', required: true } },
    run: ({ text }, { task_id, item_index }) => {
      this.calls.push(item_index === null ? task_id : `${task_id}[${item_index}]`);
      if (this.broken.has(task_id)) throw new Error(`${task_id} is broken`);
      return text;
    },
  });

  /** Runs tasks, written as a YAML flow list. */
  async run(tasks: string, values: Omit<RunInputs, 'pipeline'> = {}, head = ''): Promise<RunRecord> {
    const text = `{id: spec, goal: be checked, ${head} tasks: [${tasks}]}`;
    const provided = { inputs: values.inputs ?? {}, session: values.session ?? {} };
    const pipeline = parsePipeline(text, { tools: [this.#echo], ...provided });
    return this.registry.settled(await this.registry.submit({ pipeline, ...values }));
  }

  /** Reruns to the end and returns the record with the calls made for it. */
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

/** a and b, then c from a, then d from b and c. */
export const DIAMOND = `
  {id: a, tool: echo, inputs: {text: A}}, {id: b, tool: echo, inputs: {text: B}},
  {id: c, tool: echo, inputs: {text: "{{a.output}}C"}},
  {id: d, tool: echo, inputs: {text: "{{b.output}}{{c.output}}D"}}`;
export const DIAMOND_OUTPUTS = { a: 'A', b: 'B', c: 'AC', d: 'BACD' };
