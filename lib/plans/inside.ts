import { isAbsolute, relative, sep } from 'node:path';

/** Does a path lead into a folder, or to the folder itself? Both are absolute. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
