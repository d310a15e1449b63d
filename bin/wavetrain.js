#!/usr/bin/env node
'use strict';

// CommonJS, as package.json beside it says: the loader of ES modules takes as long to start as all tasks of a short run.
require('./start.cjs');
