import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A message of the Language Server Protocol: a request, a response or a notification. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
}

interface Diagnostics {
  readonly uri: string;
  readonly diagnostics: readonly {
    readonly message: string;
    readonly range: { readonly start: { readonly line: number } };
  }[];
}

export interface Completion {
  readonly label: string;
  readonly documentation?: string | { readonly value: string };
}

/** The language server loads nothing from the internet. */
const SETTINGS = { schemaStore: { enable: false }, kubernetesCRDStore: { enable: false } };

/** The language server that editors use for YAML, as a process, with a folder of files open. */
export class YamlLanguageServer {
  readonly #folder: string;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #responses = new Map<number, (result: unknown) => void>();
  readonly #diagnostics = new Map<string, (found: Diagnostics) => void>();
  #received = Buffer.alloc(0);
  #requests = 0;

  private constructor(folder: string) {
    this.#folder = folder;
    const program = createRequire(import.meta.url).resolve('yaml-language-server/bin/yaml-language-server');
    this.#process = spawn(process.execPath, [program, '--stdio']);
    this.#process.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  static async start(folder: string): Promise<YamlLanguageServer> {
    const server = new YamlLanguageServer(folder);
    const uri = pathToFileURL(folder).href;
    await server.#request('initialize', {
      processId: process.pid,
      rootUri: uri,
      workspaceFolders: [{ uri, name: 'spec' }],
      capabilities: {
        textDocument: { completion: { completionItem: { documentationFormat: ['markdown'] } } },
      },
    });
    server.#send({ method: 'initialized', params: {} });
    return server;
  }

  /** Opens a text as a file, and returns what the editor marks in it: `LINE: MESSAGE`. */
  async validate(file: string, text: string): Promise<string[]> {
    const { diagnostics } = await this.#open(file, text);
    return diagnostics.map(({ message, range }) => `${range.start.line + 1}: ${message}`);
  }

  /** Returns what the editor offers where `|` stands in a text. */
  async complete(file: string, textWithCursor: string): Promise<readonly Completion[]> {
    const lines = textWithCursor.slice(0, textWithCursor.indexOf('|')).split('\n');
    const { uri } = await this.#open(file, textWithCursor.replace('|', ''));
    const position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
    const list = await this.#request('textDocument/completion', { textDocument: { uri }, position });
    return (list as { readonly items: readonly Completion[] }).items;
  }

  async close(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.kill();
    await exited;
  }

  async #open(file: string, text: string): Promise<Diagnostics> {
    const uri = pathToFileURL(join(this.#folder, file)).href;
    const published = new Promise<Diagnostics>((resolve) => this.#diagnostics.set(uri, resolve));
    this.#send({
      method: 'textDocument/didOpen',
      params: { textDocument: { uri, languageId: 'yaml', version: 1, text } },
    });
    return await published;
  }

  async #request(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#requests;
    const response = new Promise<unknown>((resolve) => this.#responses.set(id, resolve));
    this.#send({ id, method, params });
    return await response;
  }

  #send(message: Message): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const header = /Content-Length: (\d+)\r\n\r\n/.exec(this.#received.toString('latin1'));
      if (header === null) return;
      const start = header.index + header[0].length;
      const end = start + Number(header[1]);
      if (this.#received.length < end) return;
      const message: Message = JSON.parse(this.#received.toString('utf8', start, end));
      this.#received = this.#received.subarray(end);
      this.#handle(message);
    }
  }

  #handle({ id, method, params, result }: Message): void {
    if (method === 'textDocument/publishDiagnostics') {
      const found = params as Diagnostics;
      this.#diagnostics.get(found.uri)?.(found);
    } else if (method === 'workspace/configuration') {
      const { items } = params as { readonly items: readonly unknown[] };
      this.#send({ id: id as number, result: items.map(() => SETTINGS) });
    } else if (method !== undefined && id !== undefined) this.#send({ id, result: null });
    else if (id !== undefined) this.#responses.get(id)?.(result);
  }
}
