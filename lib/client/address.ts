import { WavetrainError } from '../common/errors.js';

/**
 * The address of a server without a slash at its end; it may have a path, where a proxy serves it.
 *
 * @throws WavetrainError `bad_usage`
 */
export function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new WavetrainError(
      'bad_usage',
      `"${url}" is no address of a server, such as http://127.0.0.1:8000`,
    );
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new WavetrainError('bad_usage', 'the address of a server takes no name and password: give a key');
  }
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`;
}

/**
 * The headers that carry a key.
 *
 * @throws WavetrainError `bad_usage`, without the key in its message
 */
export function keyHeaders(key: string | undefined): Record<string, string> {
  if (key === undefined) return {};
  if (/^[\x21-\x7e]+$/.test(key)) return { authorization: `Bearer ${key}` };
  throw new WavetrainError('bad_usage', 'the key is not one: it has a blank or a character that no key has');
}

/**
 * The path of a run.
 *
 * @throws WavetrainError `run_not_found` for what could not be part of a path
 */
export function pathOfRun(runId: string): string {
  // A URL takes dots for a place further up.
  if (runId === '' || /^\.{1,2}$/.test(runId)) {
    throw new WavetrainError('run_not_found', `there is no run "${runId}"`);
  }
  return `/pipelines/runs/${encodeURIComponent(runId)}`;
}

/** A query string, with what is given. */
export function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}
