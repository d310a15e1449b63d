import { Gauge, type Registry } from 'prom-client';
import type { TaskPool, TaskPools } from '../common/scheduling/task-pools.js';

interface PoolMetric {
  readonly name: string;
  readonly help: string;
  readonly measure: (pool: TaskPool) => number;
}

/** One for each fact that a chart of a pool needs. */
const POOL_METRICS: readonly PoolMetric[] = [
  {
    name: 'wavetrain_pool_places',
    help: 'Places of a pool, as SERVICE_POOLS sets them.',
    measure: ({ places }) => places,
  },
  {
    name: 'wavetrain_pool_in_use',
    help: 'Places of a pool that calls of tasks have now.',
    measure: ({ inUse }) => inUse,
  },
  {
    name: 'wavetrain_pool_waiting',
    help: 'Calls of tasks that wait for a place of a pool.',
    measure: ({ waiting }) => waiting,
  },
];

/** Adds the gauges of pools (D81). Their number is limited, as whoever runs the server names them. */
export function addPoolGauges(registry: Registry, pools: TaskPools): void {
  for (const { name, help, measure } of POOL_METRICS) {
    const gauge = new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers: [registry],
      collect: (): void => {
        for (const pool of pools) gauge.set({ pool: pool.name }, measure(pool));
      },
    });
  }
}
