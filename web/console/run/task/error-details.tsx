import type { ErrorRecord } from '../../../../lib/execution/invocation/thrown-error.js';
import { CopyButton } from '../../shell/copy-button.js';

/** Why a task failed: the message, the causes below it, and the stack where the server shows it. */
export function ErrorDetails({ error }: { readonly error: ErrorRecord }) {
  const { type, message, code, causes, stack } = error;
  return (
    <section class="error" aria-label="Error">
      <h3>
        {type}
        {code !== undefined && <span class="src"> {code}</span>}
      </h3>
      <pre>{message}</pre>
      {causes.length > 0 && (
        <ol aria-label="Causes">
          {causes.map((cause, index) => (
            <li key={index}>
              caused by {cause.type}
              {cause.code !== undefined && <span class="src"> {cause.code}</span>}: <bdi>{cause.message}</bdi>
            </li>
          ))}
        </ol>
      )}
      {stack !== undefined && (
        <details>
          <summary>Stack</summary>
          <pre class="code">{stack}</pre>
        </details>
      )}
      <CopyButton
        text={[
          `${type}: ${message}`,
          ...causes.map((cause) => `caused by ${cause.type}: ${cause.message}`),
          ...(stack === undefined ? [] : [stack]),
        ].join('\n')}
      >
        Copy the error
      </CopyButton>
    </section>
  );
}
