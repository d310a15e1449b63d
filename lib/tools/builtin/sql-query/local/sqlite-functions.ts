/**
 * The functions of SQLite that reach nothing outside of the database. The build of the package libsql has others, such as
 * `readfile` and `writefile`, which no setting of it takes away.
 */
const ALLOWED = new Set(
  (
    'abs avg changes char coalesce concat concat_ws count count cume_dist date datetime dense_rank first_value format ' +
    'glob group_concat hex ifnull iif instr json json_array json_array_length json_error_position json_extract ' +
    'json_group_array json_group_object json_insert json_object json_patch json_quote json_remove json_replace json_set ' +
    'json_type json_valid jsonb jsonb_array jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object ' +
    'jsonb_patch jsonb_remove jsonb_replace jsonb_set julianday lag last_insert_rowid last_value lead length like ' +
    'likelihood likely lower ltrim max min nth_value ntile nullif octet_length percent_rank printf quote random randomblob ' +
    'rank replace round row_number rtrim sign soundex sqlite_version strftime string_agg substr substring subtype sum time ' +
    'timediff total total_changes trim typeof unhex unicode unixepoch unlikely upper zeroblob current_date current_time ' +
    'current_timestamp -> ->> match regexp acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ' +
    'ln log log10 log2 mod pi pow power radians sin sinh sqrt tan tanh trunc bm25 highlight snippet matchinfo offsets ' +
    'optimize stdev variance median mode reverse uuid sha3 ' +
    // Parts of ALTER TABLE and ANALYZE, which statements cannot call.
    'sqlite_rename_table sqlite_rename_column sqlite_rename_test sqlite_rename_quotefix sqlite_drop_column sqlite_fail ' +
    'sqlite_add_constraint sqlite_drop_constraint stat_init stat_push stat_get'
  ).split(' '),
);

/** Operations of the compiled statement whose fourth operand is `name(arguments)`. */
const CALLS = new Set(['Function', 'PureFunc', 'AggStep', 'AggStep1', 'AggInverse', 'AggValue', 'AggFinal']);

/** The name of a function that must not be called; undefined when there is none. @param program rows of EXPLAIN */
export function findRefusedFunction(program: readonly unknown[]): string | undefined {
  for (const row of program) {
    if (!Array.isArray(row)) continue;
    const [, operation, , , , operand]: readonly unknown[] = row;
    if (typeof operation !== 'string' || !CALLS.has(operation)) continue;
    const name = typeof operand === 'string' ? operand.replace(/\(-?\d+\)$/, '') : '';
    if (!ALLOWED.has(name.toLowerCase())) return name === '' ? 'without a name' : name;
  }
  return undefined;
}
