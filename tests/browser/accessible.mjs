// Assertions about every view, in every theme and size.

import assert from 'node:assert/strict';

import axe from 'axe-core';

const SIZES = { phone: { width: 375, height: 812 }, desktop: { width: 1360, height: 900 } };
// `assertAccessible` also checks the colours of the other theme: dark pages are for screenshots.
const THEMES = process.env.SCREENSHOTS ? ['light', 'dark'] : ['light'];

/**
 * The sizes and themes in which a view is opened: options of `open`, and a name for messages and
 * pictures.
 */
export const LOOKS = THEMES.flatMap((colorScheme) =>
  Object.entries(SIZES).map(([size, viewport]) => ({
    name: `${size}-${colorScheme}`,
    colorScheme,
    viewport,
  })),
);

/** Asserts that axe reports nothing in the page, or in the element of a selector, in either theme. */
export async function assertAccessible(page, what, selector = 'html') {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const run = (options) =>
    page.evaluate(
      async ([within, given]) => {
        const { violations } = await axe.run(within, { resultTypes: ['violations'], ...given });
        return violations.map(
          ({ id, nodes }) =>
            `${id}: ${nodes
              .slice(0, 5)
              .map((one) => one.html.slice(0, 160))
              .join(' ')}`,
        );
      },
      [selector, options],
    );
  assert.deepEqual(await run({ rules: { 'target-size': { enabled: true } } }), [], what);

  const theme = await page.evaluate(() =>
    matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
  );
  await page.emulateMedia({ colorScheme: theme === 'dark' ? 'light' : 'dark' });
  assert.deepEqual(
    await run({ runOnly: ['color-contrast'] }),
    [],
    `${what}, in the theme that is not ${theme}`,
  );
  await page.emulateMedia({ colorScheme: theme });
}

/** Asserts that the page does not scroll sideways. */
export async function assertFits(page, what) {
  assert.ok(
    await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
    `${what} is wider than the window`,
  );
}
