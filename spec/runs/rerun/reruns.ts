import type { LiveEvent } from '../../../lib/execution/events/event.js';
import type { RunInputs } from '../../../lib/execution/prepare/run-inputs.js';
import type { Json } from '../../../lib/common/json/json.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import type { RerunRequest } from '../../../lib/runs/rerun/rerun.js';
import type { RerunReport } from '../../../lib/runs/rerun/rerun-report.js';
import { defineTool } from '../../../lib/tools/tool.js';

/** A registry with one tool, `echo`, which returns its input and records its calls. */
export class Reruns {
  readonly calls: string[] = [];
  /** Tasks and items, as `task[item]`, whose tool throws. */
  readonly broken = new Set<string>();
  readonly events: LiveEvent[] = [];
  readonly registry = new RunRegistry({ onEvent: (event) => void this.events.push(event) });
  readonly #echo = defineTool({
    name: 'echo',
    description: 'returns its input',
    inputs: { text: { description: 'the text to return', required: true } },
    run: ({ text }, { task_id, item_index }) => {
      const call = item_index === null ? task_id : `${task_id}[${item_index}]`;
      this.calls.push(call);
      if (this.broken.has(task_id) || this.broken.has(call)) throw new Error(`${task_id} is broken`);
      return text;
    },
  });

  readonly tools = [this.#echo];

  /** Checks tasks, written as a YAML flow list. */
  parse(tasks: string, values: Pick<RunInputs, 'inputs' | 'session'> = {}, head = ''): RunInputs['pipeline'] {
    const text = `{id: spec, goal: be checked, ${head} tasks: [${tasks}]}`;
    const provided = { inputs: values.inputs ?? {}, session: values.session ?? {} };
    return parsePipeline(text, { tools: this.tools, ...provided });
  }

  /** Runs tasks, written as a YAML flow list. */
  async run(tasks: string, values: Omit<RunInputs, 'pipeline'> = {}, head = ''): Promise<RunRecord> {
    const pipeline = this.parse(tasks, values, head);
    return this.registry.settled(await this.registry.submit({ pipeline, ...values }));
  }

  /** Reruns to the end and returns the record with the calls made for it. */
  rerun(runId: string, from?: string): Promise<Rerun> {
    return this.fix(runId, { from });
  }

  /** Reruns like `rerun`, with changes. */
  async fix(runId: string, request: RerunRequest): Promise<Rerun> {
    this.calls.length = 0;
    this.events.length = 0;
    const id = await this.registry.rerun(runId, request);
    const record = await this.registry.settled(id);
    const report = await this.registry.rerunReport(id);
    return { record, calls: [...this.calls], outputs: record.result?.outputs, report };
  }
}

interface Rerun {
  readonly record: RunRecord;
  readonly calls: string[];
  readonly outputs: Json | undefined;
  readonly report: RerunReport | null;
}

/** a and b, then c from a, then d from b and c. */
export const DIAMOND = `
  {id: a, tool: echo, inputs: {text: A}}, {id: b, tool: echo, inputs: {text: B}},
  {id: c, tool: echo, inputs: {text: "{{a.output}}C"}},
  {id: d, tool: echo, inputs: {text: "{{b.output}}{{c.output}}D"}}`;
export const DIAMOND_OUTPUTS = { a: 'A', b: 'B', c: 'AC', d: 'BACD' };
