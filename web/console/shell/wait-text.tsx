import { describeWait, type WaitingFor, pathOfRun } from '../../../lib/common/wire/run-summary.js';

/** Says what a run, a task or an item waits for; the runs that come before it are links. */
export function WaitText({ wait }: { readonly wait: WaitingFor }) {
  const { running = [], ...others } = wait;
  return (
    <>
      waits for <bdi>{describeWait(others)}</bdi>
      {running.map((runId, index) => (
        <span key={runId}>
          {index === 0 ? ': ' : ', '}
          <a href={pathOfRun(runId)} title={runId}>
            <code>{runId.slice(-12)}</code>
          </a>
        </span>
      ))}
    </>
  );
}
