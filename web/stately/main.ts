import { KEY_ITEM } from '../shared/server/api-key.js';

/**
 * Shows a run in the viewer of stately.ai, once its reader has agreed. The viewer is in an iframe of another origin; this
 * page gets the messages from its own server over a WebSocket and posts them to the iframe.
 */
const VIEWER_URL = 'https://stately.ai/inspect';
const VIEWER_ORIGIN = new URL(VIEWER_URL).origin;

/** Posted by the viewer when it is ready. */
const CONNECTED = '@statelyai.connected';

/** The code with which the server closes the WebSocket when it needs another key. */
const UNAUTHORIZED = 4401;

const runId = decodeURIComponent(location.pathname.split('/').at(-1) ?? '');
const consent = find('consent', HTMLFormElement);
const keyField = find('key-field', HTMLElement);
const keyInput = find('key', HTMLInputElement);
const state = find('state', HTMLElement);

find('run', HTMLElement).textContent = `Run ${runId}`;
find('own', HTMLAnchorElement).href = `/inspect/${encodeURIComponent(runId)}`;
consent.addEventListener('submit', (event) => {
  event.preventDefault();
  if (keyInput.value !== '') sessionStorage.setItem(KEY_ITEM, keyInput.value);
  consent.hidden = true;
  openViewer();
});

function openViewer(): void {
  const frame = document.createElement('iframe');
  frame.title = 'Viewer of stately.ai';
  frame.referrerPolicy = 'no-referrer';
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms allow-popups');
  let socket: WebSocket | undefined;
  addEventListener('message', ({ source, origin, data }: MessageEvent<unknown>) => {
    if (source === null || source !== frame.contentWindow || origin !== VIEWER_ORIGIN) return;
    if (!isConnected(data)) return;
    // The viewer forgets everything when it is loaded again.
    socket?.close();
    socket = connect(frame.contentWindow);
  });
  frame.src = VIEWER_URL;
  find('viewer', HTMLElement).replaceChildren(frame);
  say('Waiting for the viewer. If it does not appear, there is no way to stately.ai from here.');
}

function connect(viewer: Window): WebSocket {
  const address = new URL('/inspect/ws', location.href);
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  address.searchParams.set('run', runId);
  const socket = new WebSocket(address);
  let passed = 0;
  socket.addEventListener('open', () => {
    socket.send(JSON.stringify({ key: sessionStorage.getItem(KEY_ITEM) ?? '' }));
    say('Connected to the run.');
  });
  socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
    viewer.postMessage(JSON.parse(data), VIEWER_ORIGIN);
    say(`${(++passed).toLocaleString('en')} events passed on to stately.ai.`);
  });
  socket.addEventListener('close', ({ code, reason }) => {
    if (code === UNAUTHORIZED) return askForKey(reason);
    const why = reason === '' ? 'the connection is lost: reload the page to try again' : reason;
    say(`${passed.toLocaleString('en')} events passed on; ${why}.`);
  });
  return socket;
}

/** The viewer is removed, so that it is loaded again with the key. */
function askForKey(reason: string): void {
  sessionStorage.removeItem(KEY_ITEM);
  find('viewer', HTMLElement).replaceChildren();
  consent.hidden = false;
  keyField.hidden = false;
  keyInput.focus();
  say(`Not connected: ${reason}.`);
}

function say(text: string): void {
  state.textContent = text;
}

function isConnected(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'type' in data && data.type === CONNECTED;
}

function find<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`the page has no ${id}`);
}
