import { ToolError } from '../../common/errors.js';
import type { JsonObject } from '../../common/json/json.js';
import type { AttemptAnswer, CallAnswer, TaskAnswer } from '../../definition/schema/test-schema.js';
import { type Catalog, toolNamesIn } from '../../tools/catalog.js';
import { defineTool, type Registries, type Tool, type ToolContext } from '../../tools/tool.js';
import { CallRecorder, type ExpectedCallsByTask } from './calls.js';
import type { JumpClock } from './jump-clock.js';

/** A call of a tool for which its case gives no answer: an error of the test. */
export interface MissingAnswer {
  /** The task as answers name it: `TASK`, `SUB_PIPELINE/TASK`, or `TASK/TASK` within a pipeline that a task runs. */
  readonly task: string;
  readonly tool: string;
  readonly message: string;
}

export type Answers = Readonly<Record<string, TaskAnswer>>;

/** The answers of one case, and the calls that found none. */
class CaseAnswers {
  readonly #answers: ReadonlyMap<string, TaskAnswer>;
  readonly missing: MissingAnswer[] = [];
  readonly calls: CallRecorder;

  constructor(answers: Answers, calls: ExpectedCallsByTask) {
    this.#answers = new Map(Object.entries(answers));
    this.calls = new CallRecorder(calls);
  }

  /** Returns the answer to an attempt; undefined when the case says nothing of the task. @throws ToolError for an answer that is missing */
  find(tool: string, context: ToolContext): AttemptAnswer | undefined {
    const { item_index: item, attempt } = context;
    const names = namesOf(context);
    const name = names.find((each) => this.#answers.has(each));
    const answer = name === undefined ? undefined : this.#answers.get(name);
    if (name === undefined || answer === undefined) return undefined;
    const call = 'items' in answer ? this.#ofItem(answer.items, { task: name, tool }, item) : answer;
    if (!isList(call)) return call;
    const ofAttempt = call[attempt - 1];
    if (ofAttempt !== undefined) return ofAttempt;
    const count = call.length === 1 ? 'one answer' : `${call.length} answers`;
    throw this.miss({ task: name, tool, message: `it has ${count}, and this is attempt ${attempt}` });
  }

  #ofItem(
    items: readonly CallAnswer[],
    call: Pick<MissingAnswer, 'task' | 'tool'>,
    item: number | null,
  ): CallAnswer {
    const message =
      item === null
        ? 'it has answers for items, and is no fan-out'
        : `it has answers for ${items.length} items, and this is item ${item}, counted from 0`;
    const answer = item === null ? undefined : items[item];
    if (answer === undefined) throw this.miss({ ...call, message });
    return answer;
  }

  /** Notes that an answer is missing, however the run goes on. */
  miss(missing: MissingAnswer): ToolError {
    const isKnown = this.missing.some(
      ({ task, message }) => task === missing.task && message === missing.message,
    );
    if (!isKnown) this.missing.push(missing);
    return ToolError.nonRetryable(`the test has no answer for task "${missing.task}": ${missing.message}`);
  }
}

/** Answers the calls of the cases that are at work. */
export class AnsweringTools {
  readonly #cases = new Map<string, CaseAnswers>();
  readonly #clock: JumpClock;

  constructor(clock: JumpClock) {
    this.#clock = clock;
  }

  /** Answers the calls of a run until its case ends. @param calls that the case expects */
  begin(runId: string, answers: Answers, calls: ExpectedCallsByTask): CaseAnswers {
    const ofCase = new CaseAnswers(answers, calls);
    this.#cases.set(runId, ofCase);
    return ofCase;
  }

  end(runId: string): void {
    this.#cases.delete(runId);
  }

  /**
   * The catalog with tools that look up their answers. Those that are pure are called where there is none. A tool of an MCP
   * server that a definition names is there without its server.
   */
  replaceIn(catalog: Catalog, definitions: readonly unknown[]): Catalog {
    const known = new Set(catalog.names());
    const named = new Set(definitions.flatMap((definition) => [...toolNamesIn(definition)]));
    const ofServers = [...named].filter((name) => MCP_TOOL.test(name) && !known.has(name));
    return catalog
      .with(ofServers.map(createServerTool))
      .withRuns((tool) => (tool.kind === undefined ? this.#answerFor(tool) : this.#guard(tool)));
  }

  #answerFor(tool: Tool): Tool['run'] {
    return (inputs, context, registries) => {
      const ofCase = this.#caseOf(context);
      ofCase.calls.note(namesOf(context), inputs as JsonObject, context);
      const answer = ofCase.find(tool.name, context);
      if (answer === undefined) return this.#callIfPure(tool, inputs, context, registries);
      if (answer.error !== undefined) throw new ToolError(answer.error);
      return answer.output ?? null;
    };
  }

  #callIfPure(
    tool: Tool,
    inputs: Record<string, unknown>,
    context: ToolContext,
    registries: Registries | undefined,
  ): unknown {
    const asksModel = tool.usesModel?.(inputs as JsonObject) !== undefined;
    if (tool.pure === true && !asksModel)
      return this.#clock.work(() => tool.run(inputs, context, registries));
    const reason = asksModel ? 'asks a language model' : 'may have effects, or read what is not in the test';
    throw this.#miss(tool.name, context, `the tool "${tool.name}" ${reason}`);
  }

  /** Functions and sources are called by tools that have found no answer. */
  #guard(entry: Tool): Tool['run'] {
    return (inputs, context, registries) => {
      if (entry.pure === true) return entry.run(inputs, context, registries);
      throw this.#miss(entry.name, context, `the ${entry.kind} "${entry.name}" is not declared as pure`);
    };
  }

  #miss(tool: string, context: ToolContext, message: string): ToolError {
    const [task = context.task_id] = namesOf(context).slice(-1);
    return this.#caseOf(context).miss({ task, tool, message });
  }

  /** @throws ToolError when the case has ended meanwhile */
  #caseOf({ run_id: runId }: ToolContext): CaseAnswers {
    const ofCase = this.#cases.get(runId);
    if (ofCase === undefined) throw ToolError.nonRetryable('the case has ended');
    return ofCase;
  }
}

/** Tools of MCP servers have the name of their server, which no other tool has. */
const MCP_TOOL = /^[a-z][a-z0-9_]*(?:\.[a-z0-9_-]+)+$/;

function createServerTool(name: string): Tool {
  const description = 'a tool of an MCP server, which tests must answer';
  return defineTool({ name, description, inputs: {}, openInputs: true, run: () => null });
}

/**
 * The names that answers may have for the task of a call, the most specific first: `TASK`, `SUB_PIPELINE/TASK`, and within
 * pipelines that tasks run `TASK/TASK`, or `TASK[ITEM]/TASK` for one item of a fan-out.
 */
function namesOf({ run_id: runId, invocation_key: key, task_id: taskId }: ToolContext): readonly string[] {
  const outer = key
    .slice(runId.length + 1)
    .split('/')
    .slice(0, -1);
  if (outer.length === 0) return [taskId];
  // A task that runs pipelines stands there with the number of the pipeline.
  const callers = outer.map((caller) => caller.replace(/\.\d+$/, ''));
  const withItems = [...callers, taskId].join('/');
  const withoutItems = [...callers.map((caller) => caller.replace(/\[\d+\]$/, '')), taskId].join('/');
  return [withItems, withoutItems];
}

function isList(answer: CallAnswer): answer is readonly AttemptAnswer[] {
  return Array.isArray(answer);
}
