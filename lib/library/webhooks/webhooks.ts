import type { Clock } from '../../common/clock.js';
import type { SecretSource } from '../../definition/secrets/run-secrets.js';
import type { FolderEntry } from '../folder-entries.js';
import type { PipelineLibrary } from '../library.js';
import { pipelineNotFound } from '../read-definition.js';
import { isEqualInConstantTime, type WebhookSignature } from './signatures.js';
import { WebhookFailures } from './webhook-failures.js';

/** A request to a webhook, which proves to know the secret with `token` or `signature`. */
export interface WebhookRequest {
  readonly tenantId: string;
  readonly id: string;
  /** The secret itself, of a header or of the query. */
  readonly token: string | undefined;
  readonly signature: WebhookSignature | undefined;
  /** An id of the delivery that nobody has signed. */
  readonly deliveryId: string | undefined;
  readonly address: string;
}

/** A shorter secret could be guessed. */
const MIN_SECRET_LENGTH = 16;

/**
 * Lets requests without a key start what declares a `webhook` (D71). The response is the same whatever is wrong: it
 * does not say which pipelines, webhooks and secrets there are.
 */
export class Webhooks {
  readonly #library: PipelineLibrary;
  readonly #secrets: SecretSource | undefined;
  readonly #failures: WebhookFailures;
  readonly #clock: Clock;

  constructor(library: PipelineLibrary, secrets: SecretSource | undefined, clock: Clock) {
    this.#library = library;
    this.#secrets = secrets;
    this.#failures = new WebhookFailures(clock);
    this.#clock = clock;
  }

  /**
   * Looks at what is known before the body is received: resolves with true when the request knows the secret, and with false
   * when its signature must be checked. Rejects with `pipeline_not_found`, and with `too_many_failures` for a signature
   * from an address whose requests have failed too much.
   */
  async admit(request: WebhookRequest): Promise<boolean> {
    const { token, signature, address, id } = request;
    await this.#library.loaded;
    if (token !== undefined && isEqualInConstantTime(token, this.#find(request)?.secret)) return true;
    // Nothing is computed for such requests: they do not count against signatures.
    if (token !== undefined || signature?.isTimely(this.#clock.now()) !== true) throw pipelineNotFound(id);
    this.#failures.assertFew(address);
    return false;
  }

  /** @throws WavetrainError `pipeline_not_found` when the signature is not that of the body */
  checkSignature(request: WebhookRequest, body: string): void {
    const { signature, id } = request;
    // Computed also when there is no secret, which would be known from the time otherwise.
    if (signature?.isOf(body, this.#find(request)?.secret) !== true) throw pipelineNotFound(id);
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

  /**
   * Identifies the delivery among all submissions of its tenant, so that it starts one run (D36); undefined when nothing names
   * it. Of a signed one, what is signed decides: the rest could be changed by whoever has captured the request.
   */
  deliveryKey(request: WebhookRequest, { good }: FolderEntry): string | undefined {
    const { token, signature, deliveryId, id } = request;
    const signed = token === undefined ? signature : undefined;
    const refusesReplay = good?.definition.webhook?.replay === 'refuse';
    // No header has a line break, so that none of these is the key of another request.
    if (signed?.isDated === true || (signed && refusesReplay)) return `webhook\n${id}\nsigned\n${signed.id}`;
    return deliveryId === undefined ? undefined : `webhook\n${id}\n${deliveryId}`;
  }

  #find({
    tenantId,
    id,
  }: WebhookRequest): { readonly entry: FolderEntry; readonly secret: string } | undefined {
    const entry = this.#library.find(tenantId, id);
    const secret = entry && this.#findSecret(entry);
    return entry === undefined || secret === undefined ? undefined : { entry, secret };
  }

  isReady(entry: FolderEntry): boolean {
    return this.#findSecret(entry) !== undefined;
  }

  #findSecret({ good, listed: { tenantId } }: FolderEntry): string | undefined {
    const name = good?.definition.webhook?.secret;
    const secret = name === undefined ? undefined : this.#secrets?.find(tenantId, name);
    return secret !== undefined && secret.length >= MIN_SECRET_LENGTH ? secret : undefined;
  }
}
