/** Something that may be written at the cursor. */
export interface Proposal {
  readonly label: string;
  /** A few words beside the label: the type. */
  readonly detail?: string;
  /** The purpose of the proposal. */
  readonly info?: string;
  /** The text to write instead of the label; `¦` is where the cursor goes. */
  readonly apply?: string;
  readonly kind: 'field' | 'tool' | 'value' | 'task' | 'name';
  /** A higher one comes first. */
  readonly boost?: number;
}

export interface Proposals {
  /** The place where the text begins that the proposals replace. */
  readonly from: number;
  readonly options: readonly Proposal[];
}
