/** What options that several commands share are for, in the same words everywhere. */
export const TOOLS_OPTION =
  '<FILE> a file or package with tools of your own; may be given several times, and adds to SERVICE_TOOLS';
export const INPUTS_OPTION =
  '<JSON> values for the inputs of the pipeline or plan, over their defaults; @FILE reads them from a file';
export const SESSION_OPTION =
  '<JSON> values readable as {{session.KEY}} from the start; @FILE reads them from a file';
export const ENV_FILE_OPTION =
  '<FILE> sets environment variables from a file; variables that are set already win';
