import { describeBrowserSpecs } from './browser-specs.js';

describeBrowserSpecs('pages');
