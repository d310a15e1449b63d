import { defineTool, ToolError } from 'wavetrain';

const EARTH_RADIUS_KM = 6371;
const KM_PER_NAUTICAL_MILE = 1.852;

/** Defines the checks before every call, the types of `run`, and the output of `wavetrain tools distance`. */
export default defineTool({
  name: 'distance',
  pure: true, // tests of pipelines run it as it is
  description: 'Measures the great circle between two places',
  inputs: {
    from: { type: 'object', required: true, description: 'with name, lat and lon, in degrees' },
    to: { type: 'object', required: true, description: 'with name, lat and lon, in degrees' },
    unit: { type: 'string', enum: ['km', 'nm'], default: 'km', description: 'kilometres or nautical miles' },
  },
  output: { name: 'leg', description: 'from, to, distance and unit', type: 'object' },
  run({ from, to, unit }, context) {
    const a = toPlace(from);
    const b = toPlace(to);
    const km = EARTH_RADIUS_KM * angleBetween(a, b);
    const distance = Math.round(unit === 'km' ? km : km / KM_PER_NAUTICAL_MILE);
    context.log(`${a.name} to ${b.name} is ${distance} ${unit}`);
    return { from: a.name, to: b.name, distance, unit };
  },
});

interface Place {
  readonly name: string;
  /** In radians. */
  readonly lat: number;
  readonly lon: number;
}

/** A second attempt would fail in the same way, so the error is marked as not retryable. */
function toPlace(value: Record<string, unknown>): Place {
  const { name, lat, lon } = value;
  if (typeof name !== 'string' || typeof lat !== 'number' || typeof lon !== 'number') {
    throw new ToolError(`${JSON.stringify(value)} is not a place: it needs name, lat and lon`, {
      retryable: false,
    });
  }
  return { name, lat: (lat * Math.PI) / 180, lon: (lon * Math.PI) / 180 };
}

function angleBetween(a: Place, b: Place): number {
  const half = (angle: number): number => Math.sin(angle / 2) ** 2;
  const chord = half(b.lat - a.lat) + Math.cos(a.lat) * Math.cos(b.lat) * half(b.lon - a.lon);
  return 2 * Math.asin(Math.sqrt(chord));
}
