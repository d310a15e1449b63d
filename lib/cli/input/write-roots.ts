import { realpathSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { readConfig } from '../../common/config/config.js';
import { invalidVariable } from '../../common/errors.js';
import { isPathInside } from '../../common/files.js';
import type { CliContext } from '../context.js';

/** Folders of a server in which tools may write nothing, and that may not be in a folder for writing either. */
const FOLDERS = ['SERVICE_FILE_ROOTS', 'SERVICE_PIPELINES', 'SERVICE_ARTIFACTS', 'SERVICE_CACHE'];

/** Files of a server that may not be in a folder for writing. */
const FILES = [
  'SERVICE_STORE',
  'SERVICE_API_KEYS_FILE',
  'SERVICE_SECRETS_FILE',
  'SERVICE_CONNECTIONS',
  'SERVICE_MCP_FILE',
  'SERVICE_TOOLS',
];

/**
 * Reads the folders in which the tools of a server may write, each tenant in one of its own (D92).
 *
 * @throws WavetrainError `bad_usage` for one that has something of the server in it, or is in a folder that every tenant may read
 */
export function readServerWriteRoots({ env, cwd }: Pick<CliContext, 'env' | 'cwd'>): readonly string[] {
  const roots = readConfig(env).writeRoots.map((root) => resolve(cwd, root));
  for (const root of roots.map(realPath)) {
    for (const name of [...FOLDERS, ...FILES]) {
      const places = (env[name] ?? '').split(delimiter).filter((place) => place.trim() !== '');
      for (const place of places.map((each) => realPath(resolve(cwd, each.trim())))) {
        const overlaps = isPathInside(place, root) || (FOLDERS.includes(name) && isPathInside(root, place));
        if (!overlaps) continue;
        throw invalidVariable(
          'SERVICE_WRITE_ROOTS',
          `shares a folder with ${name}: tools would write there, or tenants read what others write; name a folder of its own`,
        );
      }
    }
  }
  return roots;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // It is created when something is written.
    return path;
  }
}
