import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../common/clock.js';
import { WavetrainError } from '../common/errors.js';
import {
  isObject,
  type Json,
  type JsonObject,
  parseJsonPointer,
  setOwn,
  subtractJsonLength,
  toJsonPointer,
} from '../common/json.js';
import type { SecretSource } from '../definition/secrets/run-secrets.js';
import type { PipelineLibrary, NamedRunValues } from './library.js';
import type { FolderEntry } from './folder-entries.js';
import { LIBRARY_LIMITS } from './limits.js';
import { pipelineNotFound } from './read-definition.js';
import { WebhookFailures } from './webhook-failures.js';

/** A request to a webhook, which proves to know the secret with `token` or `signature`. */
export interface WebhookRequest {
  readonly tenantId: string;
  readonly id: string;
  /** The secret itself, of a header or of the query. */
  readonly token: string | undefined;
  /** `sha256=` and the HMAC of the body, in hexadecimal, as GitHub sends it. */
  readonly signature: string | undefined;
  /** The IP address that it came from. */
  readonly address: string;
}

/** A shorter secret could be guessed. */
const MIN_SECRET_LENGTH = 16;

/**
 * Lets requests without a key start what declares a `webhook` (D71). Whatever is wrong, the response is the same: it does not
 * say which pipelines, webhooks and secrets there are.
 */
export class Webhooks {
  readonly #library: PipelineLibrary;
  readonly #secrets: SecretSource | undefined;
  readonly #failures: WebhookFailures;

  constructor(library: PipelineLibrary, secrets: SecretSource | undefined, clock: Clock) {
    this.#library = library;
    this.#secrets = secrets;
    this.#failures = new WebhookFailures(clock);
  }

  /**
   * Looks at what is known before the body is received: resolves with true when the request knows the secret, and with false
   * when its signature must be checked. Rejects with `pipeline_not_found`, and with `too_many_failures` for a signature
   * from an address whose requests have failed too much.
   */
  async admit(request: WebhookRequest): Promise<boolean> {
    const { token, signature, address, id } = request;
    await this.#library.loaded;
    if (token !== undefined && isEqual(token, this.#find(request)?.secret)) return true;
    // Nothing is computed for these: they do not count against signatures.
    if (token !== undefined || signature === undefined || !SIGNATURE.test(signature))
      throw pipelineNotFound(id);
    this.#failures.assertFew(address);
    return false;
  }

  /** @throws WavetrainError `pipeline_not_found` when the signature is not that of the body */
  checkSignature(request: WebhookRequest, body: string): void {
    const { signature = '', id } = request;
    const secret = this.#find(request)?.secret;
    // Computed also when there is no secret, which would be known from the time otherwise.
    const computed = `sha256=${createHmac('sha256', secret ?? '')
      .update(body, 'utf8')
      .digest('hex')}`;
    if (!isEqual(signature.toLowerCase(), secret && computed)) throw pipelineNotFound(id);
  }

  /** Counts a request whose signature is wrong, or whose body has not arrived. @param bytes of its body that have */
  countFailure({ address }: WebhookRequest, bytes: number): void {
    this.#failures.add(address, bytes);
  }

  /** @throws WavetrainError `pipeline_not_found` when its file has changed while the body arrived */
  entry(request: WebhookRequest): FolderEntry {
    const found = this.#find(request);
    if (found === undefined) throw pipelineNotFound(request.id);
    return found.entry;
  }

  #find({
    tenantId,
    id,
  }: WebhookRequest): { readonly entry: FolderEntry; readonly secret: string } | undefined {
    const entry = this.#library.find(tenantId, id);
    const secret = entry && this.#findSecret(entry);
    return entry === undefined || secret === undefined ? undefined : { entry, secret };
  }

  /** Whether the server has the secret of a webhook. */
  isReady(entry: FolderEntry): boolean {
    return this.#findSecret(entry) !== undefined;
  }

  #findSecret({ good, listed: { tenantId } }: FolderEntry): string | undefined {
    const name = good?.definition.webhook?.secret;
    const secret = name === undefined ? undefined : this.#secrets?.find(tenantId, name);
    return secret !== undefined && secret.length >= MIN_SECRET_LENGTH ? secret : undefined;
  }
}

const SIGNATURE = /^sha256=[0-9a-f]{64}$/i;

/** Compares in a time that says nothing about either. */
function isEqual(given: string, expected: string | undefined): boolean {
  const [a, b] = [given, expected ?? ''].map((text) => createHash('sha256').update(text, 'utf8').digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b) && expected !== undefined;
}

/**
 * Makes the values of a run from the body of a request: the fields that the definition maps, or else those that are params.
 * What the body lacks is left out.
 *
 * @throws WavetrainError `invalid_request` for a body that is no object, and `body_too_large`
 */
export function toRunValues({ good }: FolderEntry, body: unknown): NamedRunValues {
  if (body !== undefined && !isObject(body)) {
    throw new WavetrainError('invalid_request', 'the body of a webhook must be a JSON object, or none');
  }
  const { webhook } = good?.definition ?? {};
  const declared = good?.kind === 'pipeline' ? Object.keys(good.definition.params ?? {}) : [];
  const mapping =
    webhook?.params ?? Object.fromEntries(declared.map((name) => [name, toJsonPointer([name])]));
  const room = { left: LIBRARY_LIMITS.webhookValues };
  const params = pick(mapping, body, room);
  const inputs = pick(webhook?.inputs ?? {}, body, room);
  return {
    ...(Object.keys(params).length > 0 && { params }),
    ...(Object.keys(inputs).length > 0 && { inputs }),
  };
}

/**
 * Each mapped value becomes a value of the run of its own, also one that several pointers name.
 *
 * @param room characters that further values may have
 * @throws WavetrainError `body_too_large`
 */
function pick(mapping: Readonly<Record<string, string>>, body: unknown, room: { left: number }): JsonObject {
  const values: JsonObject = {};
  for (const [name, pointer] of Object.entries(mapping)) {
    const value = resolvePointer(body, pointer);
    if (value === undefined) continue;
    room.left = subtractJsonLength(room.left, value as Json);
    if (room.left < 0) {
      const limit = `${LIBRARY_LIMITS.webhookValues / 2 ** 20} MiB`;
      throw new WavetrainError(
        'body_too_large',
        `the values that the webhook takes from the body have more than ${limit} together`,
      );
    }
    setOwn(values, name, value);
  }
  return values;
}

function resolvePointer(value: unknown, pointer: string): unknown {
  let found = value;
  for (const key of parseJsonPointer(pointer)) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}
