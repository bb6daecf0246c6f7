// What holds for every view, in every theme and size.

import assert from 'node:assert/strict';

import axe from 'axe-core';

const ALL_LOOKS = ['light', 'dark'].flatMap((colorScheme) => [
  { name: `phone-${colorScheme}`, colorScheme, viewport: { width: 375, height: 812 } },
  { name: `desktop-${colorScheme}`, colorScheme, viewport: { width: 1360, height: 900 } },
]);

/**
 * The themes and sizes in which a view is tested: options of `open`, and a name for pictures. Each theme and each size once,
 * since colours do not depend on sizes; all of them for screenshots.
 */
export const LOOKS = process.env.SCREENSHOTS ? ALL_LOOKS : [ALL_LOOKS[0], ALL_LOOKS[3]];

/** Asserts that axe finds nothing in the page, or in the element of a selector. */
export async function assertAccessible(page, what, selector = 'html') {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const found = await page.evaluate(async (within) => {
    const { violations } = await axe.run(within, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 5).map((one) => one.html.slice(0, 160)).join(' ')}`);
  }, selector);
  assert.deepEqual(found, [], what);
}

/** Asserts that the page does not scroll sideways. */
export async function assertFits(page, what) {
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what} is wider than the window`);
}
