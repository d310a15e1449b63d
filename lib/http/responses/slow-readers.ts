import type { ServerResponse } from 'node:http';
import type { HttpServices } from '../services.js';

/** Time within which a client must accept what was written to it, which is hardly more than 64 KiB. */
export const READER_TIMEOUT_MS = 30_000;

/** Disconnects clients that do not read their responses, because what they do not read stays in memory. */
export class SlowReaders {
  readonly #services: Pick<HttpServices, 'clock' | 'log'>;

  constructor(services: Pick<HttpServices, 'clock' | 'log'>) {
    this.#services = services;
  }

  /**
   * Calls `onAccepted` when the connection has accepted everything that was written, or was closed.
   *
   * @param event `drain` before the end of the response, `finish` after it
   */
  watch(response: ServerResponse, event: 'drain' | 'finish', onAccepted: () => void): void {
    if (response.destroyed) return onAccepted();
    const { clock } = this.#services;
    let timer: unknown;
    const setTimer = (): void => {
      timer = clock.setTimeout(() => {
        // Node.js emits nothing on a response that waits for those before it, not even when the connection is closed.
        if (response.req.socket.destroyed) end();
        else if (response.socket === null) setTimer();
        else this.#disconnect(response);
      }, READER_TIMEOUT_MS);
    };
    const end = (): void => {
      clock.clearTimeout(timer);
      response.off(event, end);
      response.off('close', end);
      onAccepted();
    };
    response.once(event, end);
    response.once('close', end);
    setTimer();
  }

  #disconnect(response: ServerResponse): void {
    const { method, url } = response.req;
    this.#services.log.warn(
      { method, url },
      `client disconnected: it has not read for ${READER_TIMEOUT_MS / 1000} s`,
    );
    response.destroy();
  }
}
