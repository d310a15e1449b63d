import { useState } from 'preact/hooks';
import { isPossibleKey } from '../server/api-key.js';
import type { Server } from '../server/server.js';

interface KeyFormProps {
  readonly server: Server;
  readonly onKey: () => void;
}

/** Asks for a key, which is kept until the tab is closed. */
export function KeyForm({ server, onKey }: KeyFormProps) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState(server.hasKey ? 'The server does not accept this key.' : '');
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!isPossibleKey(key.trim())) {
      setProblem('A key has no spaces, and only letters, digits and signs of ASCII.');
      return;
    }
    server.useKey(key.trim());
    onKey();
  };
  return (
    <main class="center">
      <form class="card" onSubmit={submit}>
        <h1>This server needs a key</h1>
        <p>It is sent to this server only, and forgotten when this tab is closed.</p>
        <label>
          API key
          <input
            type="password"
            autocomplete="off"
            value={key}
            aria-invalid={problem !== ''}
            aria-describedby="key-problem"
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <p id="key-problem" class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="primary" disabled={key.trim() === ''}>
          Show
        </button>
      </form>
    </main>
  );
}
