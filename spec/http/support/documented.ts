import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import { compileSchema, type Validator } from '../../../lib/common/json-schema/ajv.js';
import type { OpenApiDocument, Operation } from '../../support/http/open-api-document.js';

/** A response before its body is parsed. */
export interface ReceivedResponse {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** The only errors with a status from 500 on that a client may receive (Errors, D25, D32). */
const FAILURES = new Set(['500 task_failed', '503 queue_full']);

/** Compares responses with the OpenAPI document. */
export class DocumentedApi {
  readonly #schemas: object;
  readonly #validators = new Map<string, Validator>();

  constructor({ components }: OpenApiDocument) {
    this.#schemas = components.schemas;
  }

  /** Expects a response to be documented, and to reveal no internals. */
  expect(operation: Operation, { status, type, text }: ReceivedResponse): void {
    expect(text).to.not.match(/\n\s+at |node_modules|file:\/\/|\/lib\/\w+\//);
    const documented = operation.responses[status];
    expect(documented, `${status} is not documented: ${text.slice(0, 300)}`).to.not.equal(undefined);
    const media = Object.entries(documented?.content ?? {}).map(
      ([name, one]) => [name.split(';')[0], one] as const,
    );
    if (media.length === 0 || text === '') {
      expect(text).to.equal('');
      return;
    }
    const found = media.find(([name]) => name === type)?.[1];
    expect(found, `${status} as ${type}`).to.not.equal(undefined);
    if (type !== 'application/json') return;
    const body: unknown = JSON.parse(text);
    this.#expectValid(found?.schema ?? {}, body);
    if (status >= 400 && 'detail' in (body as object)) expectError(operation, status, body as ErrorBody);
  }

  #expectValid(schema: object, body: unknown): void {
    const within = JSON.stringify({ $defs: this.#schemas, allOf: [schema] });
    const text = within.replaceAll('#/components/schemas/', '#/$defs/');
    const validate = this.#validators.get(text) ?? compileSchema(JSON.parse(text) as object);
    this.#validators.set(text, validate);
    validate(body);
    expect(validate.errors ?? []).to.deep.equal([]);
  }
}

function expectError(operation: Operation, status: number, { detail }: ErrorBody): void {
  const codes = operation.responses[status]?.content?.['application/json']?.examples ?? {};
  expect(codes, detail.message).to.have.property(detail.code);
  if (status < 500) return;
  expect(FAILURES, detail.message).to.include(`${status} ${detail.code}`);
  if (status === 500) expect(detail).to.include.keys('task_id', 'error', 'failures', 'run_id');
}
