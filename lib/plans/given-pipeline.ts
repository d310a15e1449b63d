/** The pipeline of a sub-pipeline, from outside the plan; or why it could not be had. */
export type GivenPipeline =
  | {
      readonly text: string;
      /** As people name it, relative to the plan; undefined when it is no file. */
      readonly file?: string;
    }
  | { readonly value: unknown }
  | { readonly missing: { readonly message: string; readonly hint?: string } };
