import { BoundedSchema } from '../../common/json-schema/bounded-schema.js';
import { CheckBudget, describeExcess } from '../../common/json-schema/check-budget.js';
import { describeViolation } from '../../common/json-schema/violation.js';
import type { Json, JsonObject } from '../../common/json/json.js';
import { writeStart } from '../../common/json/json-writer.js';
import { ellipsize } from '../../common/text.js';
import { TemplateError } from './expressions/operand.js';
import { THIS } from './reference.js';
import type { RenderMeter } from './render-meter.js';
import type { TaskMembers, TemplateScope } from './scope.js';
import type { Template } from './template.js';

/** A condition that a task has before it calls its tool (D77). */
export interface Condition {
  readonly template: Template;
  /** The template as it was written, for messages. */
  readonly text: string;
  readonly schema: JsonObject | undefined;
}

/** Steps that one condition may take for one value: some milliseconds. */
const MAX_STEPS = 100_000;

/** Longer templates and values are cut in reasons. */
const MAX_SHOWN = 80;

/** Renders the template of a condition. */
type RenderCondition = (condition: Condition) => Json;

/** The conditions of a task, or those of its items: keeps what it has compiled of them. */
export class ConditionCheck {
  readonly #conditions: readonly Condition[];
  readonly #budget = new CheckBudget(MAX_STEPS);
  readonly #schemas = new Map<Condition, BoundedSchema>();

  constructor(conditions: readonly Condition[]) {
    this.#conditions = conditions;
  }

  /**
   * Returns why the first condition that does not hold does not, as in `{{params.kind}} must be "invoice", not "receipt"`;
   * undefined when all hold.
   *
   * @throws TemplateError when a value is missing (D13), and for a value whose check would take too long
   */
  findUnmet(render: RenderCondition): string | undefined {
    for (const condition of this.#conditions) {
      const value = render(condition);
      const reason =
        condition.schema === undefined
          ? describeFalse(condition, value)
          : this.#describeViolated(condition, condition.schema, value);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  #describeViolated(condition: Condition, schema: JsonObject, value: Json): string | undefined {
    this.#budget.renew();
    const [violation] = this.#compile(condition, schema).findViolations(value);
    const { text } = condition;
    const shown = ellipsize(text, MAX_SHOWN);
    if (this.#budget.isExceeded)
      throw new TemplateError(text.replaceAll(/^\{\{|\}\}$/g, ''), describeExcess(MAX_STEPS));
    if (violation === undefined) return undefined;
    if (violation.keyword === 'not') return `${shown} is ${describeValue(value)}, which "not" excludes`;
    return describeViolation(violation, { one: `${shown}: field`, all: shown });
  }

  #compile(condition: Condition, schema: JsonObject): BoundedSchema {
    let compiled = this.#schemas.get(condition);
    if (compiled === undefined) {
      compiled = new BoundedSchema(schema, this.#budget, 1, 'implied');
      this.#schemas.set(condition, compiled);
    }
    return compiled;
  }
}

/** Renders conditions that read no item. */
export function renderWith(scope: TemplateScope): RenderCondition {
  return ({ template }) => template.render(scope);
}

/** Renders conditions that read the output of a round as `this` (D83). */
export function renderAfterRound(scope: TemplateScope, output: Json): RenderCondition {
  return renderWith(new RoundScope(scope, output));
}

/** The values that the conditions of a round can read: those of its task, and its output. */
class RoundScope implements TemplateScope {
  readonly inputs: JsonObject;
  readonly params: JsonObject;
  readonly session: Record<string, Json>;
  readonly goal: string;
  readonly meter: RenderMeter | undefined;
  readonly #outer: TemplateScope;
  readonly #output: Json;

  constructor(outer: TemplateScope, output: Json) {
    this.inputs = outer.inputs;
    this.params = outer.params;
    this.session = outer.session;
    this.goal = outer.goal;
    this.meter = outer.meter;
    this.#outer = outer;
    this.#output = output;
  }

  output(taskId: string): Json | undefined {
    return taskId === THIS ? this.#output : this.#outer.output(taskId);
  }

  stateOf(taskId: string): TaskMembers | undefined {
    return taskId === THIS ? undefined : this.#outer.stateOf?.(taskId);
  }
}

/** Renders conditions for the items of a fan-out: parts that read no item are evaluated once. */
export function renderForItems(
  conditions: readonly Condition[],
  scope: TemplateScope,
): (item: Json, index: number) => RenderCondition {
  const bound = new Map(conditions.map((condition) => [condition, condition.template.bind(scope)]));
  return (item, index) => (condition) => bound.get(condition)?.(item, index) ?? null;
}

function describeFalse({ text }: Condition, value: Json): string | undefined {
  return isTrue(value) ? undefined : `${ellipsize(text, MAX_SHOWN)} is ${describeValue(value)}`;
}

function describeValue(value: Json): string {
  if (value === '') return 'an empty text';
  return writeStart(value, MAX_SHOWN);
}

/** Values that make a template alone hold: all but `false`, null, 0, an empty text, list or map, and the text `false`. */
export function isTrue(value: Json): boolean {
  if (typeof value === 'string') return value !== '' && value !== 'false';
  if (typeof value !== 'object' || value === null) return Boolean(value);
  return Object.keys(value).length > 0;
}
