/** Lazy boundary: writes reports in HTML, which few commands do. */
export { runToEnd } from '../../common/scheduling/steps.js';
export { writeHtmlReport } from '../../reports/html-report.js';
export { readReportData } from '../../reports/report-data.js';
