import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Does work while a function of `node:fs/promises` fails as on a full disk: it does a part of what it should, and then
 * rejects with the code.
 */
export async function withFailing<T>(
  name: 'rename' | 'writeFile',
  code: string,
  work: () => Promise<T>,
): Promise<T> {
  const original = fs[name];
  const fail = async (...given: unknown[]): Promise<never> => {
    if (name === 'writeFile')
      await (original as typeof fs.writeFile)(given[0] as string, 'half', given[2] as object);
    throw Object.assign(new Error(`${code}: it failed, ${name}`), { code });
  };
  Object.assign(fs, { [name]: fail });
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    Object.assign(fs, { [name]: original });
    syncBuiltinESMExports();
  }
}
