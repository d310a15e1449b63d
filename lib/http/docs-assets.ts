import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { WavetrainError } from '../common/errors.js';

/** The files that the page asks for, by the media types they are sent in. */
const TYPE_OF: ReadonlyMap<string, string> = new Map([
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
  ['swagger-ui-standalone-preset.js', 'text/javascript'],
  ['favicon-32x32.png', 'image/png'],
]);

/** A file as it is sent. */
export interface DocsAsset {
  readonly bytes: Buffer;
  readonly type: string;
}

/** Swagger UI as the build put it beside the code, so that the page asks no other host for it (D39). */
export class DocsAssets {
  readonly #folder: string;

  constructor(folder = builtFolder()) {
    this.#folder = folder;
  }

  /**
   * Of Swagger UI. It stands in the addresses of the files, which may so be kept for ever.
   *
   * @throws WavetrainError `not_found` when there was no build
   */
  version(): string {
    const file = join(this.#folder, 'VERSION');
    if (existsSync(file)) return readFileSync(file, 'utf8').trim();
    throw new WavetrainError(
      'not_found',
      'the documentation page is not here, for this is a source checkout that was not built: run "npm run build"; GET /openapi.json has the same as data',
    );
  }

  /** @throws WavetrainError `not_found` */
  async read(version: string, name: string): Promise<DocsAsset> {
    const type = TYPE_OF.get(name);
    if (type === undefined || version !== this.version()) {
      throw new WavetrainError('not_found', `there is no file ${name} of version ${version}`);
    }
    return { bytes: await readFile(join(this.#folder, name)), type };
  }
}

function builtFolder(): string {
  const root = dirname(createRequire(import.meta.url).resolve('wavetrain/package.json'));
  return join(root, 'dist', 'swagger-ui');
}
