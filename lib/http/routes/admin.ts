import Type from 'typebox';
import { errorCode, errorMessage, WavetrainError } from '../../common/errors.js';
import { defineRoute, type Route } from '../routing/route.js';
import { auditRoute } from './audit.js';
import { RELOAD_CAUSES, RELOAD_KINDS, type Reload, type ServerReload } from '../reload.js';
import type { HttpServices } from '../services.js';

/** The routes of the operator of a server, for keys with the scope `admin`. */
export function adminRoutes(services: HttpServices): Route[] {
  const { backups, reload, work, log } = services;
  return [
    auditRoute(services),
    ...reloadRoutes(reload),
    defineRoute({
      method: 'POST',
      path: '/admin/backup',
      id: 'backUpStore',
      tag: 'Server',
      summary: 'Back up the store of the server',
      description:
        'Writes a copy of the file of `SERVICE_STORE`, with the runs of all tenants, to a file of the name `file` beside it, and the files of runs to `FILE.files`, while the server works. Responds when the copy was opened and found sound. One backup at a time; a file that is there is not replaced. Without keys, only a server on a loopback address does it.',
      access: 'admin',
      body: { schema: BackupRequestSchema, examples: { backup: { file: 'backup-2026-01-31.db' } } },
      responses: { 200: { description: 'The backup is written.', schema: BackupSchema } },
      errors: ['file_changed', 'too_many_streams', 'shutting_down'],
      handle: async (request) => {
        if (backups === undefined) {
          throw new WavetrainError(
            'invalid_request',
            'this server keeps its runs in memory, so there is nothing to back up: start it with SERVICE_STORE=FILE',
          );
        }
        const name = request.body?.file ?? '';
        // Others may send their bodies meanwhile.
        request.endTurn();
        const { file, bytes, runs, duration_ms } = await work.run(request.disconnected(), async (signal) => {
          try {
            return await backups.write(name, signal);
          } catch (error) {
            if (errorCode(error) === 'internal' && !signal.aborted) log.error({}, errorMessage(error));
            throw error;
          }
        });
        return { body: { file, bytes, runs, duration_ms } };
      },
    }),
  ];
}

/** The routes that read the configuration again, and say how that went. */
function reloadRoutes(reload: ServerReload | undefined): Route[] {
  const route = { path: '/admin/reload', tag: 'Server', access: 'admin' } as const;
  return [
    defineRoute({
      ...route,
      method: 'POST',
      id: 'reloadConfiguration',
      summary: 'Read keys, secrets, connections, tools and settings again',
      description:
        'As SIGHUP does: everything is read again, and used only if all of it can be read. Otherwise nothing changes, and the error says why. Runs at work keep their tools and secrets.',
      responses: { 200: { description: 'What was read is used.', schema: ReloadSchema } },
      handle: async () => {
        if (reload === undefined) throw new WavetrainError('invalid_request', NO_RELOAD);
        const done = await reload.reload('request');
        if (done.error === null) return { body: toReloadBody(done) };
        throw new WavetrainError('invalid_request', `all stays as it was: ${done.error}`);
      },
    }),
    defineRoute({
      ...route,
      method: 'GET',
      id: 'getReload',
      summary: 'Get the last attempt to read the configuration again',
      responses: {
        200: { description: 'The last attempt; null before the first.', schema: LastReloadSchema },
      },
      handle: () => ({ body: { last: reload?.last === undefined ? null : toReloadBody(reload.last) } }),
    }),
  ];
}

const NO_RELOAD = 'this server reads nothing again: start it with `wavetrain serve`';

function toReloadBody({ needRestart, ...reload }: Reload): object {
  return { ...reload, need_restart: needRestart };
}

const Names = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));

const ReloadSchema = Type.Object(
  {
    at: Type.String({ description: 'ISO 8601.' }),
    cause: Type.Enum([...RELOAD_CAUSES], {
      description: '`file`: one has changed. `signal`: SIGHUP. `request`: `POST /admin/reload`.',
    }),
    error: Type.Union([Type.String(), Type.Null()], {
      description: 'Null when what was read is used; otherwise all has stayed as it was, for this reason.',
    }),
    changes: Type.Array(
      Type.Object({
        kind: Type.Enum([...RELOAD_KINDS]),
        added: Names('Names, and never values.'),
        removed: Names('Names that are there no more.'),
        changed: Names('Names that mean something else now.'),
      }),
      { description: 'What has changed.' },
    ),
    need_restart: Type.Array(Type.String(), {
      description: 'Variables that have changed and that only a restart uses.',
    }),
  },
  { title: 'Reload' },
);

const LastReloadSchema = Type.Object(
  { last: Type.Union([ReloadSchema, Type.Null()]) },
  { title: 'LastReload' },
);

const BackupRequestSchema = Type.Object(
  {
    file: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Name of the new file, without folders: it is written beside the store.',
    }),
  },
  { additionalProperties: false, title: 'BackupRequest' },
);

const BackupSchema = Type.Object(
  {
    file: Type.String({ description: 'Path of the file on the machine of the server.' }),
    bytes: Type.Integer({ minimum: 0, description: 'Size of the file, without the files of runs.' }),
    runs: Type.Integer({ minimum: 0, description: 'Number of runs in it.' }),
    duration_ms: Type.Integer({ minimum: 0 }),
  },
  { title: 'Backup' },
);
