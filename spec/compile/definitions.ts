/** A pipeline of one task. */
export const VALID =
  'pipeline:\n  id: ask\n  goal: g\n  tasks:\n    - id: a\n      tool: llm_job\n      inputs: {prompt: hi}\n';

/** The same with a misspelt tool in line 6. */
export const BROKEN = VALID.replace('llm_job', 'lm_job');
