import type { Server } from './server.js';
import { type ReadingOptions, useReading } from './use-reading.js';

/**
 * Reads a path of the server, and reads it again as the options say; with another path, at once. A path that is null is
 * not read, and no path while the server wants a key.
 */
export function useJson<T>(server: Server, path: string | null, options?: ReadingOptions) {
  const name = server.needsKey.value ? null : path;
  return useReading(name, (signal) => server.getJson<T>(path ?? '', {}, signal), options);
}
