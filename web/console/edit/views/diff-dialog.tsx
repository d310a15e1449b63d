import { useEffect, useRef } from 'preact/hooks';
import { showDiff } from '../code/diff-view.js';

interface DiffDialogProps {
  readonly title: string;
  /** The meaning of the choice. */
  readonly about: string;
  readonly before: { readonly label: string; readonly text: string };
  readonly after: { readonly label: string; readonly text: string };
  /** The button that leaves everything as it is. */
  readonly keep: string;
  /** The button that takes the text on the right. */
  readonly take: string;
  /** The loss that taking the text would bring, so that the other button is suggested; undefined for none. */
  readonly warning?: string | undefined;
  readonly onKeep: () => void;
  readonly onTake: () => void;
  /** Escape, which decides nothing; default: as `onKeep`, where that replaces nothing. */
  readonly onClose?: () => void;
}

/** Two texts beside each other, and the choice between them. Nothing is replaced before it is made. */
export function DiffDialog(props: DiffDialogProps) {
  const { title, about, before, after, keep, take, warning, onKeep, onTake, onClose = onKeep } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  useEffect(() => {
    if (box.current === null) return;
    return showDiff({ parent: box.current, before, after });
  }, [before.text, after.text]);
  return (
    <dialog ref={dialog} class="diff" aria-labelledby="diff-title" onCancel={onClose}>
      <h2 id="diff-title">{title}</h2>
      <p class="about">{about}</p>
      {warning !== undefined && (
        <p class="problem">
          <bdi>{warning}</bdi>
        </p>
      )}
      <div class="sides" aria-hidden="true">
        <span>{before.label}</span>
        <span>{after.label}</span>
      </div>
      <div class="compared" ref={box} />
      <p class="actions">
        <button type="button" class={warning === undefined ? '' : 'primary'} onClick={onKeep}>
          {keep}
        </button>
        <button type="button" class={warning === undefined ? 'primary' : ''} onClick={onTake}>
          {take}
        </button>
      </p>
    </dialog>
  );
}
