import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { REFUSED, useBrowserTab } from '../support/browser-tab.js';
import { readEditor, writeEditor } from '../support/editor-text.js';
import { expectText } from '../../waiting.js';

const TRIP = `# where to
plan:
  id: trip
  goal: Book {{inputs.city}}
  inputs: {city: Rome}
  sub_pipelines:
    - {id: people, inputs: [city], stores: [people]}
    - {id: rooms, file: hotel/rooms.yaml, reads: [people]}
`;

const PEOPLE = `pipeline:
  id: people
  goal: g
  tasks: [{id: count, tool: store, inputs: {key: people, value: "{{pipeline.inputs.city}}"}}]
`;

const ROOMS = `pipeline:
  id: rooms
  goal: g
  tasks:
    - {id: book, tool: mock, inputs: {people: "{{session.people}}"}}
    - {id: pay, tool: mock, inputs: {booked: "{{book.output}}"}}
`;

describe('Plans in the editor, in a browser', function () {
  this.timeout(240_000);
  let page: Page;
  let url: string;
  const fixture = useBrowserTab(
    {
      files: { 'trip.yaml': TRIP, 'people.yaml': PEOPLE, 'hotel/rooms.yaml': ROOMS },
      env: { SERVICE_PIPELINES_WRITABLE: 'true' },
      expected: REFUSED,
    },
    (tab) => {
      ({ page, url } = tab);
    },
  );

  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  const summary = (): Locator => page.locator('.problems .summary');

  async function open(query: string): Promise<void> {
    await page.goto(`${url}/edit${query}`);
    await expectText(summary(), /No problems|error|warning/);
  }

  /** Waits for the page of a run that is not this one, and for its end. Returns its status. */
  async function settledRun(other = ''): Promise<string> {
    await page.waitForURL(
      ({ pathname }) => /^\/runs\/[\w-]+$/.test(pathname) && pathname !== `/runs/${other}`,
    );
    const runId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await fixture.server.registry.settled(runId);
    return (await fixture.poll(runId)).status;
  }

  /** A run of a plan whose second sub-pipeline fails. */
  async function failedRun(): Promise<string> {
    const part = (id: string, tasks: object[]) => ({ id, pipeline: { id, goal: 'g', tasks } });
    const runId = await fixture.submitPlan({
      id: 'both',
      goal: 'g',
      sub_pipelines: [
        part('good', [{ id: 'a', tool: 'mock' }]),
        part('bad', [
          { id: 'b', tool: 'fail', inputs: { message: 'no luck' } },
          { id: 'c', tool: 'mock', await: ['b'] },
        ]),
        part('late', [{ id: 'd', tool: 'mock' }]),
      ],
    });
    await fixture.server.registry.settled(runId);
    return runId;
  }

  it('rerun after a fix, with a preview of what runs and what is reused (D60)', async () => {
    const runId = await failedRun();
    await open(`?run=${runId}`);
    await writeEditor(page, (await readEditor(page)).replace('tool: fail', 'tool: mock'));
    await expectText(page.locator('.rerun-part .preview'), /3 tasks run.*bad.*1 task is reused.*good/s);
    await button('Rerun with these changes').click();
    expect(await settledRun(runId)).to.equal('succeeded');
  });

  it('say on the page of a failed run how the tasks of each sub-pipeline have ended', async () => {
    const runId = await failedRun();
    await page.goto(`${url}/runs/${runId}`);
    const part = (id: string): Locator =>
      page.getByRole('region', { name: `Sub-pipeline ${id}` }).locator('h3');
    await expectText(part('good'), /succeeded.*1 of 1 task$/);
    await expectText(part('bad'), /failed.*1 failed, 1 not run$/);
    await expectText(part('late'), /not run.*1 not run/);
    await expectText(page.locator('.plan-graph .task-card', { hasText: 'late' }), /1 not run.*not run/);
  });

  it('are checked and run with the files of the folder, saved or not (D69)', async () => {
    await open('?pipeline=trip');
    await expectText(summary(), 'No problems');
    await button('Run…').click();
    await button('Run').click();
    expect(await settledRun()).to.equal('succeeded');
    const text = PEOPLE.replaceAll('people', 'cars');
    const headers = { 'If-None-Match': '*' };
    const added = await page.request.put(`${url}/pipelines/cars/file`, { data: { text }, headers });
    expect(added.status()).to.equal(200);
    await open('?pipeline=trip');
    await writeEditor(page, `${TRIP}    - {id: cars, inputs: [city], stores: [cars]}\n    - {id: ships}\n`);
    await expectText(summary(), '1 warning');
    await page.getByText('sub-pipeline "ships": there is no file "ships.yaml"').waitFor();
    await page.getByRole('tab', { name: 'Run' }).click();
    await button('Run').click();
    await page.locator('.run-pane').getByText('sub-pipeline "ships": there is no file').waitFor();
    await writeEditor(page, `${TRIP}    - {id: cars, inputs: [city], stores: [cars]}\n`);
    await expectText(summary(), 'No problems');
    await button('Run').click();
    expect(await settledRun()).to.equal('succeeded');
  });

  // The last one: it replaces the file.
  it('say before a save what becomes of the files of pipelines that the text of the run has in place', async () => {
    const started = await page.request.post(`${url}/pipelines/trip/run_async`, { data: {} });
    const { run_id: runId } = (await started.json()) as { run_id: string };
    await fixture.server.registry.settled(runId);
    await open(`?run=${runId}`);
    await button('Save').click();
    await page.getByRole('heading', { name: 'Replace trip.yaml?' }).waitFor();
    await expectText(page.locator('dialog .problem'), /copies of these pipelines.*: people, rooms\./);
    await expectText(page.locator('dialog button.primary'), 'Do not save');
    await button('Replace the file').click();
    await page.getByText('Saved as trip.').waitFor();
    await expectText(page.getByLabel('Open a definition').locator('option:checked'), 'trip (plan)');
  });
});
