import { useMemo, useRef } from 'preact/hooks';
import { isShown, labelOf } from '../model/actor-tree.js';
import { formatInteger } from '../../shared/model/format.js';
import { toneOf } from '../../shared/model/tones.js';
import { foldRow, listTreeRows, type TreeRow } from '../model/tree-rows.js';
import type { RunSession } from '../session/run-session.js';
import { moveByKey, rowId, VirtualList } from '../../shared/views/virtual-list.js';

const ROW_HEIGHT = 24;

/** The actors of the run at the moment shown, as a tree that the arrow keys walk through. */
export function ActorTreeView({ session }: { readonly session: RunSession }) {
  void session.version.value;
  const folding = session.folding.value;
  const { tree } = session;
  const rows = useMemo(() => listTreeRows(tree, folding), [tree, tree.changes, folding]);
  const selected = session.selected.value || session.shownActor;
  // A group has no actor to select, so the tree remembers which row the keys are at.
  const focused = useRef(selected);
  const lastSelected = useRef(selected);
  if (lastSelected.current !== selected) {
    lastSelected.current = selected;
    focused.current = selected;
  }
  const found = rows.findIndex(({ id }) => id === focused.current);
  const active = found >= 0 ? found : rows.findIndex(({ id }) => id === selected);

  const goTo = (index: number): void => {
    const row = rows[index];
    if (!row) return;
    focused.current = row.id;
    if (row.kind === 'actor') session.goTo({ actor: row.id });
    else session.version.value++;
  };
  const fold = (row: TreeRow, isOpen: boolean): void => {
    focused.current = row.id;
    session.folding.value = foldRow(folding, row, isOpen);
  };
  const onKey = (key: string): boolean => {
    const row = rows[active];
    const next = moveByKey(key, active, rows.length);
    if (next !== undefined) {
      goTo(next);
      return true;
    }
    if (!row) return false;
    if (key === 'ArrowRight' && row.isOpen === false) fold(row, true);
    else if (key === 'ArrowRight' && row.isOpen) goTo(active + 1);
    else if (key === 'ArrowLeft' && row.isOpen) fold(row, false);
    else if (key === 'ArrowLeft') goTo(parentIndex(rows, active));
    else if (key === 'Enter' || key === ' ') {
      if (row.isOpen !== undefined) fold(row, !row.isOpen);
    } else return false;
    return true;
  };

  return (
    <section class="panel tree" aria-label="Actors">
      <h2>
        Actors <span class="count">{formatInteger(tree.size)}</span>
      </h2>
      {rows.length === 0 ? (
        <p class="empty">No actor exists at this moment.</p>
      ) : (
        <VirtualList
          count={rows.length}
          rowHeight={ROW_HEIGHT}
          active={active}
          follow={focused.current}
          role="tree"
          label="Actors"
          name="actor"
          onKey={onKey}
          renderRow={(index) => {
            const row = rows[index];
            return row ? (
              <Row
                key={row.id}
                row={row}
                index={index}
                isSelected={row.id === selected}
                isActive={index === active}
                onSelect={() => goTo(index)}
                onFold={(isOpen) => fold(row, isOpen)}
              />
            ) : null;
          }}
        />
      )}
    </section>
  );
}

interface RowProps {
  readonly row: TreeRow;
  readonly index: number;
  readonly isSelected: boolean;
  readonly isActive: boolean;
  readonly onSelect: () => void;
  readonly onFold: (isOpen: boolean) => void;
}

function Row({ row, index, isSelected, isActive, onSelect, onFold }: RowProps) {
  const { level, isOpen } = row;
  return (
    <div
      id={rowId('actor', index)}
      class={`row actor${isSelected ? ' selected' : ''}${isActive ? ' active' : ''}`}
      role="treeitem"
      aria-level={level}
      aria-selected={isSelected}
      {...(isOpen !== undefined && { 'aria-expanded': isOpen })}
      style={{ paddingLeft: `${(level - 1) * 14 + 4}px` }}
      onClick={() => (row.kind === 'group' ? onFold(!isOpen) : onSelect())}
    >
      <span
        class={`twist${isOpen === undefined ? '' : isOpen ? ' open' : ' closed'}`}
        aria-hidden="true"
        onClick={(event) => {
          if (isOpen === undefined) return;
          event.stopPropagation();
          onFold(!isOpen);
        }}
      />
      {row.kind === 'group' ? <Group row={row} /> : <Actor row={row} />}
    </div>
  );
}

function Actor({ row: { node } }: { readonly row: Extract<TreeRow, { kind: 'actor' }> }) {
  const label = node.entry ? labelOf(node.entry) : '';
  const { items } = node;
  return (
    <>
      <span class={`dot ${toneOf(label)}`} aria-hidden="true" />
      <bdi class="name">{node.name}</bdi>
      {items ? (
        <span class="src">
          items {items.from}–{items.to - 1}
        </span>
      ) : (
        node.src !== node.name && <span class="src">{node.src}</span>
      )}
      {!node.entry && isShown(node) && <span class="src">not recorded</span>}
      <span class={`state ${toneOf(label)}`}>{label}</span>
    </>
  );
}

function Group({ row: { label, count } }: { readonly row: Extract<TreeRow, { kind: 'group' }> }) {
  return (
    <>
      <span class={`dot ${toneOf(label)}`} aria-hidden="true" />
      <span class="name group">{formatInteger(count)}</span>
      <span class={`state ${toneOf(label)}`}>{label}</span>
    </>
  );
}

function parentIndex(rows: readonly TreeRow[], index: number): number {
  const level = rows[index]?.level ?? 1;
  for (let at = index - 1; at >= 0; at--) if ((rows[at]?.level ?? 0) < level) return at;
  return index;
}
