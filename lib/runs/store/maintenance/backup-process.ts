import { answerRequests } from '../../../common/workers/answer-requests.js';
import { errorMessage, WavetrainError } from '../../../common/errors.js';
import { copyStore } from './copy-store.js';
import type { CopyRequest, CopyResponse } from './server-backups.js';

/** The program of a process that copies the store of a server, once: the locks of the server are those of its process. */
answerRequests(
  async ({ file, folder }: CopyRequest): Promise<CopyResponse> => {
    try {
      return { copy: await copyStore(file, folder) };
    } catch (error) {
      if (error instanceof WavetrainError) return { problem: errorMessage(error) };
      throw error;
    }
  },
  { maxIdleMiB: 256 },
);
