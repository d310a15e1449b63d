import { join, resolve } from 'node:path';
import { MAX_FILE_BYTES } from '../../common/limits.js';
import type { FileAccess, FolderAccess } from './access.js';
import { AllowedFolders, type DescribeFolders } from './allowed-folders.js';
import { listFolder } from './folder-list.js';
import { isObjectUrl } from './object-stores/object-url.js';
import type { ObjectContext } from './object-stores/open-store.js';
import { openRegularFile, readRegularFile } from './regular-file.js';
import { type WritableFolders, writeInside } from './written-file.js';

/** The rights of tools besides reading, and the words for folders. */
export interface FileAccessOptions {
  /** Where tools may write files, which they may read, too. Default: nowhere. */
  readonly writable?: WritableFolders | undefined;
  /** Names the allowed folders in errors. Default: by their paths. */
  readonly describe?: DescribeFolders | undefined;
  /** Gives paths as their callers wrote them, and not where the files are. */
  readonly hidesFolders?: boolean | undefined;
}

/**
 * Creates the access of tools to files: inside `roots` and nowhere else (D51). Whatever the path and its symbolic
 * links, the real file must be a regular one below a root. Looks up relative paths in each root in turn; skips roots
 * that do not exist.
 *
 * Reading rejects with a ToolError, not retryable, that names the allowed folders and the path as it was given.
 *
 * @param limitBytes the size of the largest file that is read at once
 */
export function fileAccess(
  roots: readonly string[],
  limitBytes: number = MAX_FILE_BYTES,
  options: FileAccessOptions = {},
): FileAccess {
  const { writable } = options;
  if (writable?.byTenant !== true) return accessTo(roots, writable, limitBytes, options);
  return {
    ...accessTo(roots, undefined, limitBytes, options),
    forTenant: (tenantId) => accessTo(roots, ownFolders(writable, tenantId), limitBytes, options),
  };
}

function accessTo(
  roots: readonly string[],
  writable: WritableFolders | undefined,
  limitBytes: number,
  options: FileAccessOptions,
): FileAccess {
  const readable = new AllowedFolders(roots, options.describe);
  // Last: a file that was written must hide none that was there.
  const folders = new AllowedFolders([...roots, ...(writable?.folders ?? [])], options.describe);
  return {
    async read(path) {
      const real = await folders.find(path);
      return { path: real, bytes: await readRegularFile(real, path, limitBytes) };
    },
    folders: {
      open: async (path) => openRegularFile(await folders.find(path), path),
      locate: (path, mayCreate) => folders.locate(path, mayCreate),
      list: async (path, isDeep) => listFolder(await folders.findFolder(path), path, isDeep),
      write: (path, pieces, isNew) =>
        writeInside(writable, path, pieces, {
          isNew,
          hiddenFrom: options.hidesFolders ? readable : undefined,
        }),
    },
  };
}

/** The access of a server's tools to files. Its errors do not show remote callers where the folders are. */
export function serverFileAccess(roots: readonly string[], writable: readonly string[] = []): FileAccess {
  return fileAccess(roots, MAX_FILE_BYTES, {
    describe: () => 'the folders in SERVICE_FILE_ROOTS',
    hidesFolders: true,
    ...(writable.length > 0 && { writable: { folders: writable, byTenant: true } }),
  });
}

/** As keys files allow them: a tenant is the name of a folder, and leads to no other one. */
const TENANT = /^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$/;

/** The folders of one tenant in the folders of all; none for a tenant whose name could lead elsewhere. */
function ownFolders({ folders }: WritableFolders, tenantId: string): WritableFolders | undefined {
  if (!TENANT.test(tenantId)) return undefined;
  return { folders: folders.map((folder) => join(resolve(folder), tenantId)) };
}

/** The files that the tools of one attempt may read: those of the allowed folders (D51), and objects of the tenant's stores (D92). */
export class AttemptFiles implements FileAccess {
  readonly #files: FileAccess;
  readonly #context: ObjectContext;

  constructor(files: FileAccess, context: ObjectContext & { readonly tenant_id: string }) {
    this.#files = files.forTenant?.(context.tenant_id) ?? files;
    this.#context = context;
  }

  get folders(): FolderAccess | undefined {
    return this.#files.folders;
  }

  async read(path: string, connection?: string): Promise<{ readonly path: string; readonly bytes: Buffer }> {
    if (!isObjectUrl(path)) return await this.#files.read(path);
    // Most runs read no objects.
    const { readObject } = await import('./object-stores/open-store.js');
    return { path, bytes: await readObject(path, connection, this.#context, MAX_FILE_BYTES) };
  }
}
