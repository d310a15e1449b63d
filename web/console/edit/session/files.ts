import type { Problem } from '../../../../lib/definition/problems/problem.js';
import type { NamedPage } from '../../../../lib/library/named-pipeline.js';
import type { TestResult } from '../../../../lib/testing/pipelines/test-request.js';
import { type Server, ServerError } from '../../../shared/server/server.js';
import type { KeptText } from './drafts.js';

const LINE_ENDS = ['\n', '\r\n', '\r'] as const;

type LineEnd = (typeof LINE_ENDS)[number];

/** A file of the folder of the server (SERVICE_PIPELINES). */
export interface OpenedFile {
  readonly file: string;
  /** With `\n` at the end of each line, as the editor has it. */
  readonly text: string;
  /** How most lines of the file end, and all when it is saved. */
  readonly lineEnd: LineEnd;
  /** Names this content. */
  readonly version: string;
}

/** The server's answer about its folder. */
export type Folder = NamedPage & {
  readonly enabled: boolean;
  readonly writable: boolean;
  /** The reader's key may pause and resume schedules. */
  readonly pausable: boolean;
};

type SaveResult =
  | { readonly kind: 'saved'; readonly version: string; readonly problems: readonly Problem[] }
  /** The file is another one than the text was made from; undefined when it is gone. */
  | { readonly kind: 'changed'; readonly current: OpenedFile | undefined };

/** As many as one request may list; the rest are not shown. */
export const MOST_FILES = 500;

export const NO_FOLDER: Folder = {
  enabled: false,
  writable: false,
  pausable: false,
  pipelines: [],
  next_cursor: null,
};

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
      return await this.#server.getJson<Folder>(`/pipelines?limit=${MOST_FILES}`);
    } catch (error) {
      if (error instanceof ServerError && error.status >= 400 && error.status < 500) return NO_FOLDER;
      throw error;
    }
  }

  /** Returns undefined when there is no such file. */
  async read(id: string): Promise<OpenedFile | undefined> {
    try {
      const file = await this.#server.getJson<Omit<OpenedFile, 'lineEnd'>>(`${pathOf(id)}${this.#query}`);
      return { ...file, text: withLineFeeds(file.text), lineEnd: lineEndOf(file.text) };
    } catch (error) {
      if (error instanceof ServerError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Runs the tests beside a file with a text that need not be saved. */
  async test(id: string, text: string): Promise<TestResult> {
    const place = this.#tenant === '' ? {} : { tenant_id: this.#tenant };
    return this.#server.post<TestResult>(`/pipelines/${encodeURIComponent(id)}/test`, { text, ...place });
  }

  /** Replaces only the version that the text was made from; without one, there must be no such file yet. */
  async save(
    id: string,
    { text, version, lineEnd }: KeptText & Pick<OpenedFile, 'lineEnd'>,
  ): Promise<SaveResult> {
    const condition = version === undefined ? { 'If-None-Match': '*' } : { 'If-Match': version };
    try {
      const response = await this.#server.open(pathOf(id), {
        method: 'PUT',
        headers: { 'Content-Type': 'application/json', ...condition },
        body: JSON.stringify({
          text: text.replaceAll('\n', lineEnd),
          ...(this.#tenant !== '' && { tenant_id: this.#tenant }),
        }),
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

/** The text with `\n` at the end of each line. */
export function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

function lineEndOf(text: string): LineEnd {
  const counts = { '\n': 0, '\r\n': 0, '\r': 0 };
  for (const [lineEnd] of text.matchAll(/\r\n?|\n/g)) counts[lineEnd as LineEnd]++;
  return LINE_ENDS.reduce((most, lineEnd) => (counts[lineEnd] > counts[most] ? lineEnd : most));
}
