import { signal } from '@preact/signals';
import { KEY_ITEM, nameKey } from './api-key.js';

/** Why the server has refused a request, or that it could not be reached (`status` 0). */
export class ServerError extends Error {
  readonly status: number;
  readonly code: string;
  /** The rest of the server's answer, such as the problems of a definition. */
  readonly detail: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    code: string,
    message: string,
    options: ErrorOptions & { readonly detail?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options);
    this.status = status;
    this.code = code;
    this.detail = options.detail ?? {};
  }
}

/** Where the key is kept: the storage of this tab. */
interface KeyStore {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

/** Whom what a page keeps in the browser belongs to: names of keys; empty without a key. */
export interface Owners {
  readonly owner: string;
  /** The key that the page had before; whoever replaced it has seen what the page showed. */
  readonly formerOwner?: string;
}

/** The server that the page came from. Sends the reader's key with each request. */
export class Server {
  /** True when the server wants a key, or another one. */
  readonly needsKey = signal(false);
  readonly #keys: KeyStore;
  readonly #fetch: typeof fetch;
  #formerOwner: string | undefined;

  constructor(keys: KeyStore, send: typeof fetch) {
    this.#keys = keys;
    this.#fetch = send;
  }

  get hasKey(): boolean {
    return this.#keys.getItem(KEY_ITEM) !== null;
  }

  get owners(): Owners {
    const key = this.#keys.getItem(KEY_ITEM);
    return {
      owner: key === null ? '' : nameKey(key),
      ...(this.#formerOwner !== undefined && { formerOwner: this.#formerOwner }),
    };
  }

  useKey(key: string): void {
    this.#formerOwner = this.owners.owner;
    this.#keys.setItem(KEY_ITEM, key);
    this.needsKey.value = false;
  }

  /** @throws ServerError */
  async getJson<T>(path: string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<T> {
    const response = await this.open(path, { headers: { Accept: 'application/json', ...headers } }, signal);
    return (await readBody(response, signal)) as T;
  }

  /** @throws ServerError */
  async post<T>(path: string, body?: object): Promise<T> {
    const content = body && { body: JSON.stringify(body) };
    const headers: Record<string, string> = body ? { 'Content-Type': 'application/json' } : {};
    const response = await this.open(path, { method: 'POST', headers, ...content });
    return (await readBody(response)) as T;
  }

  /** Returns the response to a request that was accepted. @throws ServerError */
  async open(path: string, init: RequestInit = {}, signal?: AbortSignal): Promise<Response> {
    const key = this.#keys.getItem(KEY_ITEM);
    const headers = new Headers(init.headers);
    if (key !== null) headers.set('Authorization', `Bearer ${key}`);
    const response = await this.#send(path, { ...init, headers, ...(signal && { signal }) });
    if (response.ok) return response;
    if (response.status === 401) this.needsKey.value = true;
    throw await toServerError(response);
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    try {
      return await this.#fetch(path, init);
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw unreachable(error);
    }
  }
}

function unreachable(cause: unknown): ServerError {
  return new ServerError(0, 'unreachable', 'the server does not answer', { cause });
}

/** @throws ServerError also when the connection breaks before the answer is complete */
async function readBody(response: Response, signal?: AbortSignal): Promise<unknown> {
  const text = await response.text().catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable(error);
  });
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ServerError(
      response.status,
      'bad_answer',
      'the server has answered with something else than JSON',
      {
        cause: error,
      },
    );
  }
}

async function toServerError(response: Response): Promise<ServerError> {
  const { status } = response;
  const text = await response.text().catch(() => '');
  const detail = findDetail(text);
  const message = detail?.message ?? `the server has answered with status ${status}`;
  return new ServerError(status, detail?.code ?? 'refused', message, { detail: { ...detail } });
}

/** The body of an error: `{detail: {code, message}}`. A proxy may answer with anything else. */
function findDetail(text: string): { readonly code?: string; readonly message?: string } | undefined {
  try {
    const body = JSON.parse(text) as { detail?: { code?: string; message?: string } } | null;
    return body?.detail;
  } catch {
    return undefined;
  }
}

/** True when the same request may succeed later: the server is not there (0), busy, or in trouble. */
export function isPassing(status: number): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500;
}

/** Returns the message for the reader about anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
