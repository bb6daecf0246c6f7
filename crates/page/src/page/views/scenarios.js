// Scenarios: ready-made ones to start, and those that were started.

import { card, failure, field, h, replace, toast } from '../lib/dom.js';
import { count, span } from '../lib/format.js';

const PATH = 'api/admin/scenarios';
/** How often the list is refreshed, in milliseconds. */
const PACE = 2_000;

async function ask(method, path, document) {
  const options = {
    method,
    ...(document && { headers: { 'content-type': 'application/toml' }, body: document }),
  };
  const response = await fetch(path, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message ?? `status ${response.status}`);
  return answer.data;
}

function summary({ state, steps }) {
  const failed = steps.filter((step) => step.state === 'failed').length;
  const done = steps.filter((step) => step.state === 'done').length;
  return ` · ${state}, ${count(done)} of ${count(steps.length)} steps done${failed ? `, ${count(failed)} failed` : ''}`;
}

export async function scenarioCard(signal) {
  const ready = await ask('GET', `${PATH}/ready-made`).catch(() => null);
  if (!ready) return null;
  const select = h(
    'select',
    ready.map((one) => h('option', { value: one.name }, one.title)),
  );
  const about = h('small.soft');
  const text = h('textarea', {
    rows: '8',
    spellcheck: 'false',
    'aria-label': 'Document of the scenario',
  });
  const problem = h('div', { 'aria-live': 'polite' });
  const list = h('div.stack');
  const draw = () => {
    const chosen = ready.find((one) => one.name === select.value);
    text.value = chosen.document;
    replace(about, chosen.description);
  };
  const refresh = async () => {
    const started = await ask('GET', PATH).catch(() => null);
    if (signal.aborted || !started) return;
    replace(list, started.length ? started.map(entry) : h('p.soft', 'No scenarios started yet.'));
  };
  const attempt = async (run) => {
    replace(problem);
    try {
      toast(await run(), 'good');
    } catch (error) {
      replace(problem, failure(error));
    }
    await refresh();
  };
  const stop = (one) =>
    attempt(async () => {
      await ask('DELETE', `${PATH}/${one.id}`);
      return `${one.name} stopped`;
    });
  const entry = (one) =>
    h(
      'div.spread',
      h(
        'span',
        one.name,
        h('span.soft', summary(one)),
        one.steps
          .filter((step) => step.state === 'failed')
          .map((step) => h('div', h('small.soft', `${step.action}: ${step.detail}`))),
      ),
      one.state === 'running' && h('button', { type: 'button', onclick: () => stop(one) }, 'Stop'),
    );
  const form = h(
    'form.stack',
    field('Scenario', select),
    about,
    h('details', h('summary', 'Scenario file'), text),
    h('div.row', h('button', { type: 'submit' }, 'Start scenario')),
    problem,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    attempt(async () => {
      const { name, lasts } = await ask('POST', PATH, text.value);
      return `${name} started for ${span(lasts / 1_000)}`;
    });
  });
  select.addEventListener('change', draw);
  const timer = setInterval(refresh, PACE);
  signal.addEventListener('abort', () => clearInterval(timer));
  draw();
  await refresh();
  return card(
    'Scenarios',
    form,
    list,
    h('p.soft', 'A scenario ends by itself and then releases what it holds.'),
  );
}
