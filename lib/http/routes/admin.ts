import Type from 'typebox';
import { errorCode, errorMessage, WavetrainError } from '../../common/errors.js';
import { defineRoute, type Route } from '../routing/route.js';
import { auditRoute } from './audit.js';
import type { HttpServices } from '../services.js';

/** The routes of the operator of a server, for keys with the scope `admin`. */
export function adminRoutes(services: HttpServices): Route[] {
  const { backups, work, log } = services;
  return [
    auditRoute(services),
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
