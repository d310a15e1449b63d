import { isObject, type Json, type JsonObject } from '../../common/json/json.js';
import {
  ANY_SHAPE,
  elementOf,
  literalOf,
  memberOf,
  ShapeBudget,
  shapeOfLiteral,
  unionOf,
  type ValueShape,
} from '../../definition/shapes/shape.js';
import type { Expression, Segment } from '../../definition/template/expressions/expression.js';
import { pathFromValue } from '../../definition/template/expressions/operand.js';
import { parseTemplate } from '../../definition/template/parsing/parser.js';
import { type Reference, resolveReference } from '../../definition/template/reference.js';
import { CALL_SCHEMA } from '../../tools/builtin/run-pipeline.js';
import { exactObject, TEXT_SCHEMA } from '../../tools/schemas/output.js';
import { outputShapeOf } from '../../tools/schemas/output-shape.js';
import type { Pipeline } from '../pipeline.js';
import { type ShapedTask, type ShapeSource, shapeSourceOf } from './shape-source.js';

/** A value that a template reads, and the path from there. */
export interface ReadValue {
  readonly shape: ValueShape;
  readonly path: readonly Segment[];
  /** As messages name the value: `list.output`. */
  readonly label: string;
}

/** A template that is resolved. */
export interface ResolvedTemplate {
  readonly reference: Reference;
  readonly expression: Expression;
}

/** Returns undefined for a value of which nothing is known. */
type AssumeShape = (reference: Reference) => ValueShape | undefined;

/** Tasks that pass on the outputs of others: of longer chains, the shapes are unknown. */
const MAX_CHAIN = 100;

/** Nesting of written values that is looked into. */
const MAX_DEPTH = 50;

/** The shapes of the values that the templates of a pipeline read, as far as the tools and the definition say. */
export class PipelineShapes {
  readonly budget: ShapeBudget;
  readonly #source: ShapeSource;
  readonly #tasks: ReadonlyMap<string, ShapedTask>;
  readonly #outputs = new Map<string, ValueShape>();
  readonly #calls = new Map<string, ValueShape>();
  readonly #items = new Map<string, ValueShape>();
  readonly #assume: AssumeShape;
  #chain = 0;

  /** @param assume gives the shapes of values that only the run decides on; default: they are unknown */
  constructor(source: ShapeSource, budget = new ShapeBudget(), assume: AssumeShape = () => undefined) {
    this.budget = budget;
    this.#source = source;
    this.#assume = assume;
    this.#tasks = new Map(source.tasks.map((task) => [task.id, task]));
  }

  /** The shape of the output of a task; of a fan-out, the list of those of its items. */
  ofOutput(id: string): ValueShape {
    return this.#remember(this.#outputs, id, (task) => {
      const call = this.ofCall(id);
      if (!task.fansOut) return call;
      const items = [call];
      // A skipped item has null in its place (D78), a failed one its error (D67).
      if (task.mayBeSkipped) items.push({ type: 'null' });
      if (task.collectsErrors) items.push(ITEM_ERROR);
      return { type: 'array', items: unionOf(items) };
    });
  }

  /** The shape of what one call of the tool of a task returns. */
  ofCall(id: string): ValueShape {
    return this.#remember(this.#calls, id, (task) => {
      const nested = this.#source.nested.get(id);
      if (nested !== undefined) return shapeOfCall(nested, this.budget);
      if (task.tool === undefined) return ANY_SHAPE;
      return outputShapeOf(task.tool, task.inputs, (value) => this.#ofWritten(value, task));
    });
  }

  /** The shape of the items of a fan-out. */
  ofItem({ id }: { readonly id: string }): ValueShape {
    return this.#remember(this.#items, id, (task) => {
      const list = this.ofList(task);
      // Another rule reports a value that is no list.
      return (list && elementOf(list, this.budget)) || ANY_SHAPE;
    });
  }

  /** The shape of the value of `parallel_over`; undefined without a valid one. */
  ofList({ id }: { readonly id: string }): ValueShape | undefined {
    const task = this.#tasks.get(id);
    const reading = task?.parallelOver === undefined ? undefined : this.#findReading(task.parallelOver);
    return task && reading && this.ofReading(reading, task);
  }

  ofParam(name: string): ValueShape {
    return ofParam(this.#source.params, name);
  }

  /** The value in which the path of a template begins, in a task. */
  read(
    { reference, expression: { root, path } }: ResolvedTemplate,
    task: { readonly id: string },
  ): ReadValue | undefined {
    const rest = pathFromValue(reference, path);
    switch (reference.kind) {
      case 'task':
        if (reference.member !== undefined) return { shape: TASK_STATE, path, label: root };
        return { shape: this.ofOutput(reference.taskId), path: rest, label: `${root}.output` };
      case 'this':
        return { shape: this.ofCall(task.id), path: rest, label: 'this.output' };
      case 'item':
        return { shape: this.ofItem(task), path: rest, label: 'item' };
      case 'param':
        return {
          shape: this.ofParam(reference.name),
          path: rest.slice(1),
          label: `params.${reference.name}`,
        };
      case 'input':
      case 'session': {
        const shape = this.#assume(reference);
        return shape === undefined ? undefined : { shape, path: rest.slice(1), label: root };
      }
      default:
        return undefined;
    }
  }

  /** The shape of the value of a template. */
  ofReading(reading: ResolvedTemplate, task: { readonly id: string }): ValueShape {
    const { fallback } = reading.expression;
    const read = this.read(reading, task);
    if (read === undefined) return ANY_SHAPE;
    let { shape } = read;
    for (const segment of read.path) shape = memberOf(shape, segment, this.budget);
    return fallback === undefined ? shape : unionOf([shape, shapeOfLiteral(fallback.value)]);
  }

  /** The shape of a written value when its templates are rendered. */
  #ofWritten(value: Json | undefined, task: ShapedTask, depth = 0): ValueShape {
    if (value === undefined || depth > MAX_DEPTH || !this.budget.take()) return ANY_SHAPE;
    if (typeof value === 'string') return this.#ofText(value, task);
    if (typeof value !== 'object' || value === null) return shapeOfLiteral(value);
    const keys = Object.keys(value);
    const written = Object.values(value);
    const members = written.map((member) => this.#ofWritten(member, task, depth + 1));
    // A member with a template is another value, even where that is known.
    if (members.every((member, at) => isLiteral(member, written[at]))) return shapeOfLiteral(value);
    if (Array.isArray(value))
      return { type: 'array', prefixItems: members, items: false, maxItems: members.length };
    const properties = Object.fromEntries(keys.map((key, at) => [key, members[at]]));
    return { type: 'object', properties, additionalProperties: false };
  }

  #ofText(text: string, task: ShapedTask): ValueShape {
    if (!text.includes('{{')) return shapeOfLiteral(text);
    const reading = this.#findReading(text);
    return reading === undefined ? TEXT_SCHEMA : this.ofReading(reading, task);
  }

  /** Resolves a template that is the whole text; undefined for any other text. */
  #findReading(text: string): ResolvedTemplate | undefined {
    const parsed = parseTemplate(text);
    if (parsed?.ok !== true || !parsed.whole) return undefined;
    const [expression] = parsed.parts.flatMap((part) => (typeof part === 'string' ? [] : part.expression));
    if (expression === undefined) return undefined;
    const { taskIds, uncertain, inputKeys, paramNames } = this.#source;
    const known = { params: paramNames, inputs: inputKeys, uncertain, suggestions: NO_SUGGESTIONS };
    return { reference: resolveReference(expression, taskIds, known), expression };
  }

  /** Finds a shape once. Of tasks that read each other in a circle, which is an error, and of long chains, it is unknown. */
  #remember(known: Map<string, ValueShape>, id: string, find: (task: ShapedTask) => ValueShape): ValueShape {
    const before = known.get(id);
    if (before !== undefined) return before;
    const task = this.#tasks.get(id);
    if (task === undefined || this.#chain === MAX_CHAIN) return ANY_SHAPE;
    known.set(id, ANY_SHAPE);
    this.#chain++;
    const shape = find(task);
    this.#chain--;
    known.set(id, shape);
    return shape;
  }
}

/** The output of `run_pipeline` for a pipeline: those of its tasks, without those of its handlers (D80). */
function shapeOfCall(pipeline: Pipeline, budget: ShapeBudget): ValueShape {
  if (!budget.take(pipeline.allTasks.size)) return ANY_SHAPE;
  const shapes = new PipelineShapes(shapeSourceOf(pipeline), budget);
  const outputs = Array.from(pipeline.tasks.keys(), (id) => [id, shapes.ofOutput(id)]);
  const properties = Object.fromEntries(outputs) as Record<string, ValueShape>;
  const known = { type: 'object', properties, additionalProperties: false };
  return { ...CALL_SCHEMA, properties: { ...CALL_SCHEMA.properties, outputs: known } };
}

/** The output of an item whose error is collected. */
const ITEM_ERROR: ValueShape = exactObject({ error: TEXT_SCHEMA });

/** The state of a task that may be skipped, or fail without its run (D79). */
const TASK_STATE: ValueShape = {
  type: 'object',
  properties: {
    status: { enum: ['succeeded', 'failed', 'skipped'] },
    error: { type: ['string', 'null'] },
  },
};

const NO_SUGGESTIONS = { nearest: () => undefined };

function isLiteral(shape: ValueShape, value: Json | undefined): boolean {
  return value !== undefined && literalOf(shape) === value;
}

/** A list in a declaration of a param is an array of JSON Schema; all other keywords are its own (D4). */
function ofParam(params: Readonly<Record<string, unknown>>, name: string): ValueShape {
  const param = Object.hasOwn(params, name) ? params[name] : undefined;
  if (!isObject(param)) return ANY_SHAPE;
  const { type = 'string', default: usual, ...keywords } = param as JsonObject;
  const shape = { ...keywords, type: type === 'list' ? 'array' : type };
  return usual === null ? unionOf([shape, { type: 'null' }]) : shape;
}
