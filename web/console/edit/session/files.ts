import type { Problem } from '../../../../lib/definition/problem.js';
import type { NamedPage } from '../../../../lib/library/library.js';
import { type Server, ServerError } from '../../../shared/server/server.js';

/** A file of the folder of the server (SERVICE_PIPELINES). */
export interface OpenedFile {
  readonly file: string;
  readonly text: string;
  /** Names this content. */
  readonly version: string;
}

/** What the server answers for its folder. */
export type Folder = NamedPage & { readonly enabled: boolean; readonly writable: boolean };

type SaveResult =
  | { readonly kind: 'saved'; readonly version: string; readonly problems: readonly Problem[] }
  /** The file is another one than the text was made from; undefined when it is gone. */
  | { readonly kind: 'changed'; readonly current: OpenedFile | undefined };

export const NO_FOLDER: Folder = { enabled: false, writable: false, pipelines: [], next_cursor: null };

/** The files that the server offers to edit. */
export class Files {
  readonly #server: Server;
  readonly #tenant: string;
  readonly #query: string;

  /** @param tenant whose files they are; empty for the one of the reader's key */
  constructor(server: Server, tenant = '') {
    this.#server = server;
    this.#tenant = tenant;
    this.#query = tenant === '' ? '' : `?${new URLSearchParams({ tenant_id: tenant })}`;
  }

  /** A server without such a folder, or whose key may not see it, offers nothing. */
  async list(): Promise<Folder> {
    try {
      return await this.#server.getJson<Folder>('/pipelines');
    } catch (error) {
      if (error instanceof ServerError && error.status >= 400 && error.status < 500) return NO_FOLDER;
      throw error;
    }
  }

  /** Returns undefined when there is no such file. */
  async read(id: string): Promise<OpenedFile | undefined> {
    try {
      return await this.#server.getJson<OpenedFile>(`${pathOf(id)}${this.#query}`);
    } catch (error) {
      if (error instanceof ServerError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** @param version of the file that the text was made from; undefined for a new file */
  async save(id: string, text: string, version: string | undefined): Promise<SaveResult> {
    const condition = version === undefined ? { 'If-None-Match': '*' } : { 'If-Match': version };
    try {
      const response = await this.#server.open(pathOf(id), {
        method: 'PUT',
        headers: { 'Content-Type': 'application/json', ...condition },
        body: JSON.stringify({ text, ...(this.#tenant !== '' && { tenant_id: this.#tenant }) }),
      });
      const saved = (await response.json()) as { version: string; problems: readonly Problem[] };
      return { kind: 'saved', version: saved.version, problems: saved.problems };
    } catch (error) {
      if (!(error instanceof ServerError) || error.code !== 'file_changed') throw error;
      return { kind: 'changed', current: await this.read(id) };
    }
  }
}

function pathOf(id: string): string {
  return `/pipelines/${encodeURIComponent(id)}/file`;
}
