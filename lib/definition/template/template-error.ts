/** A template of the definition could not be rendered with the data of this run (D13). */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  /** The path that has no value, as text: `a.output.rows[0]`. */
  readonly path: string;

  constructor(path: string, reason: string) {
    super(`{{${path}}}: ${reason}`);
    this.path = path;
  }
}
