import type { Json } from '../../common/json/json.js';
import type { Steps } from '../../common/scheduling/steps.js';
import { ExpressionTable } from './expressions/expression-table.js';
import type { ExpressionOperand } from './expressions/operand.js';
import type { TemplateScope } from './scope.js';
import { compileInSteps, compileTemplate, type Template } from './template.js';

/** Templates that take more memory, in bytes, are compiled in steps before they are needed. */
const LONG_BYTES = 128 * 1024;

/**
 * The compiled templates of one pipeline, which all of its runs share. A run that waits does without: they are dropped
 * when no run at work needs them, and compiled again when one does (D15).
 */
export class DroppableTemplates {
  /** Memory of all of them when they are compiled, in bytes. */
  readonly sizeBytes: number;
  readonly #templates: DroppableTemplate[] = [];
  readonly #source = new TableSource();
  #users = 0;
  #isDropped = false;

  constructor(sizeBytes: number) {
    this.sizeBytes = sizeBytes;
  }

  /** Adds a template, which the check has compiled from the value; its verbatim keys have no templates. */
  add(compiled: Template, value: Json, verbatim?: ReadonlySet<string>): Template {
    const template = new DroppableTemplate(compiled, value, verbatim, this.#source);
    this.#templates.push(template);
    return template;
  }

  /** Keeps the templates for a run at work. */
  hold(): void {
    this.#users++;
  }

  /** Call once for each `hold`, when the run has ended or waits. */
  release(): void {
    this.#users--;
  }

  /** Drops the templates unless a run at work holds them. Call for a run that waits. */
  park(): void {
    if (this.#users > 0) return;
    for (const template of this.#templates) template.drop();
    this.#isDropped = true;
    this.#source.drop();
  }

  get isCompiled(): boolean {
    return this.#templates.every((template) => template.isCompiled);
  }

  /** True when compiling what is missing would hold the event loop. */
  get needsSteps(): boolean {
    return this.#isDropped && this.sizeBytes > LONG_BYTES;
  }

  /** Compiles the missing templates. A template that is needed before that is compiled then, in one go. */
  *compile(): Steps<void> {
    for (const template of this.#templates) if (!template.isCompiled) yield* template.compile();
    this.#isDropped = false;
  }
}

/** The table that templates share when they are compiled again: equal expressions of all of them are one. */
class TableSource {
  #table: ExpressionTable | undefined;

  get table(): ExpressionTable {
    return (this.#table ??= new ExpressionTable());
  }

  drop(): void {
    this.#table = undefined;
  }
}

type Verbatim = ReadonlySet<string> | undefined;

/** A template that is compiled again when it is needed after it was dropped. */
class DroppableTemplate implements Template {
  readonly #value: Json;
  readonly #verbatim: Verbatim;
  readonly #source: TableSource;
  #compiled: Template | undefined;

  constructor(compiled: Template, value: Json, verbatim: Verbatim, source: TableSource) {
    this.#compiled = compiled;
    this.#value = value;
    this.#verbatim = verbatim;
    this.#source = source;
  }

  get isCompiled(): boolean {
    return this.#compiled !== undefined;
  }

  get operands(): readonly ExpressionOperand[] {
    return this.#get().operands;
  }

  render(scope: TemplateScope): Json {
    return this.#get().render(scope);
  }

  bind(scope: TemplateScope): (item: Json, index: number) => Json {
    return this.#get().bind(scope);
  }

  *compile(): Steps<void> {
    this.#compiled = (yield* compileInSteps(this.#value, this.#options)).template;
  }

  drop(): void {
    this.#compiled = undefined;
  }

  #get(): Template {
    return (this.#compiled ??= compileTemplate(this.#value, this.#options).template);
  }

  get #options(): { readonly table: ExpressionTable; readonly verbatim: Verbatim } {
    return { table: this.#source.table, verbatim: this.#verbatim };
  }
}
