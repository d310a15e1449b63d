import { isObject, type Json, type JsonObject } from '../json/json.js';
import type { CheckBudget } from './check-budget.js';
import {
  createValueTest,
  KEYWORD_TYPES,
  type KeywordType,
  STEPS_PER_ENTRY,
  TYPE_TESTS,
} from './value-tests.js';
import type { Violation } from './violation.js';

/** Checks a value at a depth of the whole. Returns false when it violates the schema, or when the check must end. */
type Check = (value: unknown, depth: number) => boolean;

type Schema = JsonObject | boolean;

/**
 * A schema from a caller, compiled (D4). It has none but the allowed keywords, thus no references, so that each of its
 * schemas is applied to each value at most once; a budget bounds how often that is. The verdict is that of JSON Schema
 * 2020-12, unless keywords imply types (D77).
 */
export class BoundedSchema {
  readonly #budget: CheckBudget;
  readonly #maxViolations: number;
  readonly #impliesTypes: boolean;
  readonly #check: Check;
  /** The keys and indexes that lead to the value that is being checked; longer than its depth after deeper values. */
  readonly #path: (string | number)[] = [];
  #violations: Violation[] = [];
  /** Above 0 in the branches of `anyOf`, `oneOf` and `not`, whose violations are not reported. */
  #silent = 0;
  /** True while schemas within `not` are compiled, but for those within a second one. */
  #isNegated = false;
  /** The first value in a `not` whose type is not that of its keyword. */
  #mistyped: Violation | undefined;

  /**
   * @param schema without errors (`SchemaReview`)
   * @param maxViolations the check ends when it has found more
   * @param types `implied`: a value violates a keyword that is about another type, and `not` around that keyword, too,
   * unless `type` stands beside it
   */
  constructor(
    schema: JsonObject,
    budget: CheckBudget,
    maxViolations: number,
    types: 'explicit' | 'implied' = 'explicit',
  ) {
    this.#budget = budget;
    this.#maxViolations = maxViolations;
    this.#impliesTypes = types === 'implied';
    this.#check = this.#compile(schema);
  }

  /** Returns the violations by a value. They are void when the budget is exceeded afterwards. */
  findViolations(value: Json): Violation[] {
    const violations: Violation[] = [];
    this.#violations = violations;
    try {
      this.#check(value, 0);
      return violations;
    } finally {
      // The schema may live for days, between the rounds of a task: the values must not.
      this.#violations = [];
      this.#mistyped = undefined;
    }
  }

  #compile(schema: Schema): Check {
    if (schema === true) return () => this.#budget.take(1);
    if (schema === false) {
      return (value, depth) => this.#budget.take(1) && this.#fail('false schema', false, value, depth);
    }
    const { type, ...others } = schema;
    const impliesTypes = this.#impliesTypes && type === undefined;
    const checks = Object.keys(others).flatMap((keyword) => {
      const check = this.#compileKeyword(keyword, others);
      const needed = impliesTypes ? KEYWORD_TYPES.get(keyword) : undefined;
      return (needed && check ? this.#requireType(needed, keyword, check) : check) ?? [];
    });
    const checkType = type === undefined ? undefined : this.#compileKeyword('type', schema);
    return (value, depth) => {
      if (!this.#budget.take(1 + checks.length)) return false;
      // Violations that follow from a wrong type would not help.
      if (checkType !== undefined && !checkType(value, depth)) return false;
      return this.#all(checks, value, depth);
    };
  }

  #compileKeyword(keyword: string, schema: JsonObject): Check | undefined {
    const operand = schema[keyword] as Json;
    switch (keyword) {
      case 'items':
        return this.#items(operand as Schema, schema);
      case 'prefixItems':
        return this.#prefixItems(operand as Schema[]);
      case 'properties':
        return this.#properties(operand as Record<string, Schema>);
      case 'additionalProperties':
        return this.#additionalProperties(operand as Schema, schema);
      case 'required':
        return this.#required(operand as string[]);
      case 'allOf':
        return this.#allOf(operand as Schema[]);
      case 'anyOf':
        return this.#passes(keyword, operand as Schema[], (passed) => passed > 0);
      case 'oneOf':
        return this.#passes(keyword, operand as Schema[], (passed) => passed === 1);
      case 'not':
        return this.#not(operand as Schema);
      default: {
        const test = createValueTest(keyword, operand, this.#budget);
        return test && ((value, depth) => test(value) || this.#fail(keyword, operand, value, depth));
      }
    }
  }

  #items(schema: Schema, { prefixItems }: JsonObject): Check {
    const check = this.#compile(schema);
    const start = Array.isArray(prefixItems) ? prefixItems.length : 0;
    return (value, depth) => {
      if (!Array.isArray(value)) return true;
      let ok = true;
      for (let i = start; i < value.length; i++) {
        if (this.#member(check, value, i, depth)) continue;
        ok = false;
        if (this.#mustEnd()) return false;
      }
      return ok;
    };
  }

  #prefixItems(schemas: readonly Schema[]): Check {
    const checks = schemas.map((schema) => this.#compile(schema));
    return (value, depth) => {
      if (!Array.isArray(value)) return true;
      let ok = true;
      for (let i = 0; i < Math.min(checks.length, value.length); i++) {
        if (this.#member(checks[i] as Check, value, i, depth)) continue;
        ok = false;
        if (this.#mustEnd()) return false;
      }
      return ok;
    };
  }

  #properties(schemas: Readonly<Record<string, Schema>>): Check {
    const checks = Object.entries(schemas).map(([key, schema]) => ({ key, check: this.#compile(schema) }));
    return (value, depth) => {
      if (!isObject(value)) return true;
      if (!this.#budget.take(checks.length)) return false;
      let ok = true;
      for (const { key, check } of checks) {
        if (!has(value, key) || this.#member(check, value, key, depth)) continue;
        ok = false;
        if (this.#mustEnd()) return false;
      }
      return ok;
    };
  }

  #additionalProperties(schema: Schema, { properties }: JsonObject): Check {
    const declared = new Set(isObject(properties) ? Object.keys(properties) : []);
    const check = schema === false ? undefined : this.#compile(schema);
    return (value, depth) => {
      if (!isObject(value)) return true;
      const keys = Object.keys(value);
      if (!this.#budget.take(STEPS_PER_ENTRY * keys.length)) return false;
      let ok = true;
      for (const key of keys) {
        if (declared.has(key)) continue;
        const fits =
          check === undefined
            ? this.#fail('additionalProperties', key, value, depth)
            : this.#member(check, value, key, depth);
        if (fits) continue;
        ok = false;
        if (this.#mustEnd()) return false;
      }
      return ok;
    };
  }

  #required(keys: readonly string[]): Check {
    return (value, depth) => {
      if (!isObject(value)) return true;
      if (!this.#budget.take(keys.length)) return false;
      let ok = true;
      for (const key of keys) {
        if (has(value, key)) continue;
        ok = this.#fail('required', key, value, depth);
        if (this.#mustEnd()) return false;
      }
      return ok;
    };
  }

  #allOf(schemas: readonly Schema[]): Check {
    const checks = schemas.map((schema) => this.#compile(schema));
    return (value, depth) => this.#all(checks, value, depth);
  }

  /** Checks how many of the schemas a value satisfies. */
  #passes(keyword: string, schemas: readonly Schema[], isEnough: (passed: number) => boolean): Check {
    const checks = schemas.map((schema) => this.#compile(schema));
    const enough = keyword === 'oneOf' ? 2 : 1;
    return (value, depth) => {
      let passed = 0;
      this.#silent++;
      for (const check of checks) {
        if (check(value, depth)) passed++;
        if (passed === enough || this.#budget.isExceeded) break;
      }
      this.#silent--;
      return isEnough(passed) || this.#fail(keyword, null, value, depth);
    };
  }

  #not(schema: Schema): Check {
    this.#isNegated = !this.#isNegated;
    const check = this.#compile(schema);
    this.#isNegated = !this.#isNegated;
    return (value, depth) => {
      const before = this.#mistyped;
      this.#mistyped = undefined;
      this.#silent++;
      const passed = check(value, depth);
      this.#silent--;
      if (passed && this.#silent === 0)
        this.#violations.push(this.#mistyped ?? this.#describe('not', null, value, depth));
      this.#mistyped ??= before;
      return !passed;
    };
  }

  /** Within `not`, a value of another type passes, so that `not` excludes it. */
  #requireType(needed: KeywordType, keyword: string, check: Check): Check {
    const hasType = TYPE_TESTS[needed];
    const isNegated = this.#isNegated;
    return (value, depth) => {
      if (hasType(value)) return check(value, depth);
      const describe = (): Violation => ({ ...this.#describe(keyword, null, value, depth), needed });
      if (this.#silent === 0) this.#violations.push(describe());
      else this.#mistyped ??= describe();
      return isNegated;
    };
  }

  #all(checks: readonly Check[], value: unknown, depth: number): boolean {
    let ok = true;
    for (const check of checks) {
      if (check(value, depth)) continue;
      ok = false;
      if (this.#mustEnd()) return false;
    }
    return ok;
  }

  #member(check: Check, parent: object, key: string | number, depth: number): boolean {
    this.#path[depth] = key;
    return check((parent as Readonly<Record<string | number, unknown>>)[key], depth + 1);
  }

  #fail(keyword: string, wanted: Json, value: unknown, depth: number): false {
    if (this.#silent === 0) this.#violations.push(this.#describe(keyword, wanted, value, depth));
    return false;
  }

  #describe(keyword: string, wanted: Json, value: unknown, depth: number): Violation {
    return { path: this.#path.slice(0, depth), keyword, wanted, value };
  }

  #mustEnd(): boolean {
    return this.#silent > 0 || this.#violations.length > this.#maxViolations || this.#budget.isExceeded;
  }
}

function has(value: Readonly<Record<string, unknown>>, key: string): boolean {
  return Object.hasOwn(value, key) && value[key] !== undefined;
}
