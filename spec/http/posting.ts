import { expect } from 'chai';

/** What was answered to a body. */
export interface Told {
  readonly status: number;
  /** Of an error. */
  readonly code: string | undefined;
  /** Of an error; else the whole text. */
  readonly message: string;
}

/** Sends a body as it is, and makes sure that no stack comes back. */
export async function postTo(
  url: string,
  body: string | Uint8Array,
  type = 'application/json',
  path = '/pipelines/run',
): Promise<Told> {
  const response = await fetch(url + path, {
    method: 'POST',
    body: typeof body === 'string' ? Buffer.from(body) : body,
    headers: type === '' ? {} : { 'content-type': type },
  });
  const text = await response.text();
  expect(text)
    .not.to.contain('node_modules')
    .and.not.to.match(/\n\s+at /);
  const { detail } = JSON.parse(text) as { detail?: { code: string; message: string } };
  return { status: response.status, code: detail?.code, message: detail?.message ?? text };
}

/** The head of a request with JSON, for a raw socket. */
export function headOf(fields: string, path = '/pipelines/validate'): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${fields}\r\n\r\n`;
}
