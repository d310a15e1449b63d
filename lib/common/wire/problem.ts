import Type from 'typebox';
import { text, titled } from './shape.js';

type Code =
  | 'syntax'
  | 'empty'
  | 'too_large'
  | 'too_deep'
  | 'too_many'
  | 'several_documents'
  | 'duplicate_key'
  | 'unquoted_template'
  | 'wrong_type'
  | 'missing_field'
  | 'unknown_field'
  | 'invalid_value'
  | 'duplicate_task'
  | 'reserved_id'
  | 'template_syntax'
  | 'unknown_reference'
  | 'self_reference'
  | 'misplaced_secret'
  | 'template_in_script'
  | 'template_in_sql'
  | 'item_outside_fan_out'
  | 'item_unused'
  | 'this_outside_repeat'
  | 'this_unused'
  | 'unknown_tool'
  | 'unknown_input'
  | 'missing_input'
  | 'invalid_input'
  | 'invalid_param'
  | 'invalid_schedule'
  | 'invalid_webhook'
  | 'cycle'
  | 'nested_too_deep'
  | 'unknown_pool'
  | 'pool_within_pool'
  // of plans (Plan, rule 3; D44, D46)
  | 'duplicate_sub_pipeline'
  | 'unsatisfied_read'
  | 'two_writers'
  | 'missing_pipeline'
  | 'nested_plan'
  | 'missing_param'
  | 'undeclared_store'
  | 'undeclared_read'
  | 'never_stored'
  | 'templated_store'
  | 'hidden_read'
  | 'repeated_key'
  // of files in the folder of a server (D69)
  | 'unreadable_file'
  | 'duplicate_id'
  // warnings (D9, D11)
  | 'no_effect'
  | 'output_omitted'
  | 'may_be_skipped'
  | 'stray_dollar'
  | 'stray_braces'
  | 'template_in_key'
  | 'template_in_label'
  | 'password_in_url'
  | 'missing_secret'
  | 'session_never_stored'
  | 'session_race'
  | 'store_conflict';

const PositionSchema = Type.Object({
  line: Type.Integer({ minimum: 1 }),
  column: Type.Integer({ minimum: 1, description: 'In UTF-16 code units, from 1.' }),
});

export const ProblemSchema = titled('Problem', {
  code: Type.Unsafe<Code>({ type: 'string', description: 'A stable code, such as `unknown_tool`.' }),
  message: text('A sentence for people, without the position.'),
  path: text('JSON Pointer into the definition as it was sent; empty for the definition itself.'),
  severity: Type.Enum(['error', 'warning']),
  line: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Absent when the definition was sent as an object.' }),
  ),
  column: Type.Optional(PositionSchema.properties.column),
  file: Type.Optional(text('The file that `path`, `line` and `column` refer to; absent over HTTP.')),
  hint: Type.Optional(text('How to solve the problem.')),
  fix: Type.Optional(
    Type.Object(
      {
        title: text('What it does, such as `write "params"`.'),
        edits: Type.Array(
          Type.Object({
            from: PositionSchema,
            to: PositionSchema,
            text: text('Replaces the text from `from` up to `to`.'),
          }),
        ),
      },
      {
        description:
          'How to change the text that was sent, so that the problem disappears; only where that is clear.',
      },
    ),
  ),
});
