import { expect } from 'chai';
import { type Link, linksOf } from './markdown.js';
import { read } from '../files.js';

const TOUR = 'docs/tour.md';

/** Somebody who reads the code for the first time opens each of these files. */
const MOST_FILES_OF_THE_STORY = 25;
const MOST_FILES = 60;

describe('The tour of the code', () => {
  it(`follows a request from section 1 to section 6 through at most ${MOST_FILES_OF_THE_STORY} source files`, () => {
    const story = linksOf(TOUR).filter(
      ({ line }) => line >= lineOf('## 1. ') && line < lineOf('## What a run shows'),
    );
    expect(sourceFilesOf(story).length).to.be.within(1, MOST_FILES_OF_THE_STORY);
  });

  it(`links to at most ${MOST_FILES} source files, and to folders where a file says no more`, () => {
    expect(sourceFilesOf(linksOf(TOUR)).length).to.be.within(1, MOST_FILES);
  });
});

function sourceFilesOf(links: readonly Link[]): string[] {
  const paths = links.map(({ target }) => target.split('#')[0] ?? '');
  return [...new Set(paths.filter((path) => /\.(?:ts|tsx|js|mjs)$/.test(path)))];
}

/** The line of the heading that begins with a text, from 1. */
function lineOf(heading: string): number {
  const index = read(TOUR)
    .split('\n')
    .findIndex((line) => line.startsWith(heading));
  expect(index, heading).to.be.at.least(0);
  return index + 1;
}
