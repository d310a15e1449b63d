import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { openBrowser, type Witness, witness } from '../support/open-browser.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';

describe('The API documentation page in a browser without network (D39)', function () {
  this.timeout(240_000);
  let browser: Browser;
  let server: TestServer;
  let page: Page;
  let seen: Witness;

  before(async function () {
    browser = await openBrowser(this);
    server = await startTestServer();
    page = await browser.newPage();
    seen = witness(page);
    await page.goto(`${server.url}/docs`);
    await page.locator('.swagger-ui .info .title').waitFor();
  });

  after(async () => {
    await page?.close();
    await server?.close(0);
  });

  it('shows the title, where the guide is, and the first endpoint within the first screen', async () => {
    expect(await page.locator('.info .title').innerText()).to.include('Wavetrain');
    expect(await page.locator('.info .description').innerText()).to.include('docs/http.md');
    await page.setViewportSize({ width: 1280, height: 720 });
    const first = await page.locator('.opblock').first().boundingBox();
    expect(first?.y).to.be.above(100);
    expect((first?.y ?? 0) + (first?.height ?? 0)).to.be.below(720);
  });

  it('lists every operation of the OpenAPI document', async () => {
    const { body } = await server.request<{ paths: Record<string, object> }>('GET', '/openapi.json');
    const operations = Object.values(body.paths).flatMap((path) => Object.keys(path));
    expect(await page.locator('.opblock').count()).to.equal(operations.length);
  });

  it('opens an endpoint to be read: nothing can be edited before "Try it out"', async () => {
    const operation = page.locator('#operations-Runs-runPipeline');
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).waitFor();
    expect(await operation.getByRole('button', { name: 'Cancel' }).count()).to.equal(0);
    expect(await operation.locator('textarea').count()).to.equal(0);
  });

  it('runs a pipeline with "Try it out" and shows its outputs', async () => {
    const operation = page.locator('#operations-Runs-runPipeline');
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    const answer = operation.locator('.live-responses-table');
    await answer.waitFor();
    expect(await answer.locator('.response-col_status').last().innerText()).to.match(/^200/);
    const { outputs } = JSON.parse(
      await answer.locator('.response-col_description code').first().innerText(),
    );
    expect(outputs.greet.inputs).to.deep.equal({ text: 'Hello, Ada!' });
  });

  it('shows the responses of the other operations, errors included', async () => {
    const operation = page.locator('#operations-Runs-getRun');
    await operation.locator('.opblock-summary-control').click();
    const answers = operation.locator('.responses-table:not(.live-responses-table) .response');
    await answers.first().waitFor();
    expect(await answers.locator('.response-col_status').allInnerTexts()).to.include.members([
      '200',
      '304',
      '404',
    ]);
    expect(await operation.innerText()).to.include('run_not_found');
  });

  it('sends no request to another host and logs no console error', () => {
    expect(seen.requests.length).to.be.above(5);
    expect(
      seen.requests.filter((url) => new URL(url).origin !== server.url && !url.startsWith('data:')),
    ).to.deep.equal([]);
    expect(seen.complaints).to.deep.equal([]);
  });
});
