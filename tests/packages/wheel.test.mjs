// The wheel, installed into a virtual environment, with pytest and mypy from PyPI.
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { version } from '../../packages/build.mjs';
import { examples, folder, packages, root, run, succeed } from './support.mjs';

const suite = path.join(import.meta.dirname, 'python');
const pip = ['-m', 'pip', '--disable-pip-version-check', '--quiet', 'install'];
// The registry does not serve tetrad.
const packed = ['--no-index', '--find-links', packages, `tetrad==${version}`];
let home, python;
before(async () => {
  home = folder();
  await succeed('python3', ['-m', 'venv', path.join(home, 'venv')]);
  python = path.join(home, 'venv/bin/python');
  await succeed(python, [...pip, '--requirement', path.join(suite, 'requirements.txt')]);
  await succeed(python, [...pip, ...packed]);
});

/** Runs pytest on a file or folder, or on a text. */
let texts = 0;
async function pytest({ file, text }) {
  if (text) {
    texts += 1;
    file = path.join(home, `test_${texts}.py`);
    await writeFile(file, text);
  }
  const env = { PYTHONDONTWRITEBYTECODE: '1' };
  return run(python, ['-m', 'pytest', '--quiet', '-p', 'no:cacheprovider', file], {
    cwd: home,
    env,
  });
}

test('the wheel has the program, its licences and nothing else', async () => {
  const [wheel] = (await readdir(packages)).filter((name) => name.endsWith('.whl'));
  assert.match(wheel, /^tetrad-.+-py3-none-(manylinux_2_\d+_\w+|macosx_11_0_arm64)\.whl$/);
  const list =
    'import sys, zipfile; print("\\n".join(sorted(zipfile.ZipFile(sys.argv[1]).namelist())))';
  const files = (await succeed(python, ['-c', list, path.join(packages, wheel)]))
    .trim()
    .split('\n');
  const info = [
    'METADATA',
    'RECORD',
    'WHEEL',
    'entry_points.txt',
    'licenses/LICENSE-APACHE',
    'licenses/LICENSE-MIT',
  ];
  const modules = ['__init__.py', '__main__.py', 'py.typed', 'pytest_plugin.py'];
  assert.deepEqual(files, [
    `tetrad-${version}.data/scripts/tetrad`,
    ...info.map((name) => `tetrad-${version}.dist-info/${name}`),
    ...modules.map((name) => `tetrad/${name}`),
  ]);
});

test('the command and the module run the program', async () => {
  const expected = `tetrad ${version}\n`;
  assert.equal(await succeed(path.join(home, 'venv/bin/tetrad'), ['--version']), expected);
  assert.equal(await succeed(python, ['-m', 'tetrad', '--version']), expected);
});

test('anvil is a link to the program on demand', async () => {
  const commands = path.join(home, 'venv/bin');
  await succeed(path.join(commands, 'tetrad'), ['link-anvil', commands]);
  assert.match(await succeed(path.join(commands, 'anvil'), ['--version']), /^anvil Version: /);
});

test('the program is also found in a folder of packages', async () => {
  const target = path.join(home, 'target');
  await succeed(python, [...pip, ...packed, '--target', target]);
  await succeed(python, ['-m', 'pip', '--quiet', 'uninstall', '--yes', 'tetrad']);
  try {
    const env = { PYTHONPATH: target };
    assert.equal(
      await succeed(python, ['-m', 'tetrad', '--version'], { env }),
      `tetrad ${version}\n`,
    );
  } finally {
    await succeed(python, [...pip, ...packed]);
  }
});

test('the interface and the fixtures work', async () => {
  const { code, stdout } = await pytest({ file: suite });
  assert.equal(code, 0, stdout);
});

test('the examples run', async () => {
  const found = await examples('python', 'packages/python/README.md', 'docs/src/start/tests.md');
  assert.equal(found.length, 4);
  for (const text of found) {
    const { code, stdout } = await pytest({ text });
    assert.equal(code, 0, stdout);
  }
});

test('a test that reverts the chain further than its own start fails', async () => {
  const text = 'def test_one(tetrad_node):\n    tetrad_node.request("evm_revert", "0x0")\n';
  const { code, stdout } = await pytest({ text });
  assert.equal(code, 1);
  assert.match(stdout, /NodeError: the test reverted the node to a state before its own start/);
});

test('the types describe the interface', async () => {
  const files = [path.join(suite, 'test_node.py'), path.join(root, 'packages/python/tetrad')];
  const cache = path.join(home, 'mypy');
  await succeed(
    python,
    ['-m', 'mypy', '--strict', '--python-version', '3.10', '--cache-dir', cache, ...files],
    { cwd: home },
  );
});
