import type { DataSource } from '../../tool.js';
import { fileSource } from './file.js';
import { createSecEdgar } from './sec-edgar.js';
import { createUrlSource } from './url.js';

/** The sources that come with the package (D49); `sec` and `edgar` are short names of `sec_edgar`. */
export const BUILTIN_SOURCES: readonly DataSource[] = [fileSource, createUrlSource(), ...createSecEdgar()];
