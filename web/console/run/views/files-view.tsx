import { formatBytes } from '../../../shared/model/format.js';
import { FileLink } from '../../../shared/views/file-link.js';
import { formatSelection, selectionOf } from '../model/addresses.js';
import type { FollowedRun } from '../followed-run.js';

/** The files that the run has written. */
export function FilesView({ session }: { readonly session: FollowedRun }) {
  const record = session.record.value;
  if (record === undefined) return null;
  const { artifacts, artifact_count } = record;
  return (
    <div class="content wide">
      <table>
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col">Task</th>
            <th scope="col">Type</th>
            <th scope="col">Size</th>
            <th scope="col">Download</th>
          </tr>
        </thead>
        <tbody>
          {artifacts.map(({ name, task_id, sub_pipeline, item, media_type, size }) => (
            <tr key={name}>
              <td>
                <bdi>{name}</bdi>
              </td>
              <td>
                <bdi>{formatSelection(selectionOf({ task_id, sub_pipeline, item }))}</bdi>
              </td>
              <td>
                <bdi>{media_type}</bdi>
              </td>
              <td class="number">{formatBytes(size)}</td>
              <td>
                <FileLink run={session} path={`/artifacts/${encodeURIComponent(name)}`} name={name}>
                  Download
                </FileLink>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {artifact_count > artifacts.length && (
        <p class="about">
          The run has {artifact_count} files: GET {session.path('/artifacts')} lists all of them.
        </p>
      )}
    </div>
  );
}
