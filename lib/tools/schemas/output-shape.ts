import type { Json, JsonObject } from '../../common/json/json.js';
import { ANY_SHAPE, type ValueShape } from '../../definition/shapes/shape.js';
import type { Tool } from '../tool.js';

/**
 * Returns the shape of what a tool returns for one task.
 *
 * @param written the inputs of the task
 * @param shapeOf gives the shape of a written value when it is rendered
 */
export function outputShapeOf(
  { output, deriveOutput, registries }: Tool,
  written: JsonObject,
  shapeOf: (value: Json | undefined) => ValueShape,
): ValueShape {
  return deriveOutput?.(written, shapeOf, registries) ?? output.schema ?? ANY_SHAPE;
}

/** Returns the shape of what the function, or the source, returns that an input names; undefined where that is not certain. */
export function shapeOfRegistered(
  entries: ReadonlyMap<string, Tool> | undefined,
  name: Json | undefined,
  args: JsonObject,
  shapeOf: (value: Json | undefined) => ValueShape,
): ValueShape | undefined {
  const named = typeof name === 'string' ? entries?.get(name) : undefined;
  return named && outputShapeOf(named, args, shapeOf);
}
