/** A request of the parent process to a child, over the IPC channel. */
export interface IpcRequest {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}

export interface IpcResponse {
  readonly id: number;
  readonly value: unknown;
}

type Handlers = Readonly<Record<string, (input: unknown) => unknown>>;

/** Handles the parent's requests until it disconnects, then exits normally, so that a profile is written. */
export function serveParent(url: string, handlers: Handlers): void {
  process.on('message', (request) => {
    void handle(request as IpcRequest, handlers);
  });
  process.on('disconnect', () => process.exit(0));
  send({ id: READY, value: url });
}

/** The id of a child's first message, which holds its URL. */
export const READY = 0;

async function handle({ id, name, input }: IpcRequest, handlers: Handlers): Promise<void> {
  const handler = handlers[name];
  if (handler === undefined) throw new Error(`there is no handler "${name}"`);
  send({ id, value: await handler(input) });
}

function send(response: IpcResponse): void {
  process.send?.(response);
}
