import type { ComponentChildren } from 'preact';

interface TabsProps<T extends string> {
  /** Distinguishes the tabs of two lists on one page. */
  readonly name: string;
  readonly label: string;
  readonly tabs: readonly T[];
  readonly current: T;
  readonly titleOf: (tab: T) => ComponentChildren;
  readonly onSelect: (tab: T) => void;
  /** The elements beside the tabs. */
  readonly children?: ComponentChildren;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** A list of tabs, of which the arrow keys select the next one and the one before. `panelOf` describes what they show. */
export function Tabs<T extends string>(props: TabsProps<T>) {
  const { name, label, tabs, current, titleOf, onSelect, children } = props;
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    const next = tabs[(tabs.indexOf(current) + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    onSelect(next);
    document.getElementById(tabId(name, next))?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map((tab) => (
        <button
          key={tab}
          id={tabId(name, tab)}
          type="button"
          role="tab"
          aria-selected={tab === current}
          aria-controls={`${name}-panel`}
          tabIndex={tab === current ? 0 : -1}
          onClick={() => onSelect(tab)}
        >
          {titleOf(tab)}
        </button>
      ))}
      {children}
    </div>
  );
}

/** The attributes of the element that shows the current tab of a list. */
export function panelOf(name: string, current: string) {
  return {
    id: `${name}-panel`,
    role: 'tabpanel',
    'aria-labelledby': tabId(name, current),
  } as const;
}

function tabId(name: string, tab: string): string {
  return `${name}-tab-${tab}`;
}
