import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunRecord } from '../../../../lib/runs/record.js';
import { formatQuantity } from '../../../shared/model/format.js';
import { messageOf } from '../../../shared/server/server.js';
import type { FollowedRun } from '../followed-run.js';

interface DeleteDialogProps {
  readonly session: FollowedRun;
  readonly record: RunRecord;
  readonly onClose: () => void;
}

/** Says what goes with a settled run, and deletes it when the reader wants that; then the list of runs is shown. */
export function DeleteDialog({ session, record, onClose }: DeleteDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState('');
  const [isDeleting, setDeleting] = useState(false);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const remove = (): void => {
    setDeleting(true);
    setProblem('');
    session
      .remove()
      // The page of a run that is gone is nothing to come back to.
      .then(() => window.location.replace('/'))
      .catch((error: unknown) => {
        setProblem(messageOf(error));
        setDeleting(false);
      });
  };
  const files =
    record.artifact_count === 0
      ? ''
      : `, and the ${formatQuantity(record.artifact_count, 'file')} it has made`;
  return (
    <dialog
      ref={dialog}
      class="run-dialog"
      aria-labelledby="delete-title"
      aria-describedby="delete-about"
      onClose={onClose}
      // A deletion that has begun cannot be called off any more.
      onCancel={(event) => isDeleting && event.preventDefault()}
    >
      <h2 id="delete-title">
        Delete this run of <bdi>{record.pipeline_id}</bdi>?
      </h2>
      <div id="delete-about">
        <p>
          The server forgets the run with everything that it keeps of it: its definition, its events, the
          inputs and outputs of its tasks{files}.
        </p>
        <p>This cannot be undone. Reruns of it stay, with what they have reused.</p>
      </div>
      {problem !== '' && (
        <p class="problem" role="alert">
          The run was not deleted: <bdi>{problem}</bdi>
        </p>
      )}
      <p class="actions">
        <button type="button" disabled={isDeleting} onClick={() => dialog.current?.close()}>
          Keep it
        </button>
        <button type="button" class="danger" disabled={isDeleting} onClick={remove}>
          {isDeleting ? 'Deleting…' : 'Delete the run'}
        </button>
      </p>
    </dialog>
  );
}
