// Scenarios: ready-made ones to start, and those that were started.

import { card, failure, field, h, replace, toast } from '../lib/dom.js';
import { count, span } from '../lib/format.js';

const PATH = 'api/admin/scenarios';
/** How often the list is refreshed, in milliseconds. */
const PACE = 2_000;

/** Requests the scenarios of the node; `document` is a scenario file. */
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

function stepsIn({ steps }, state) {
  return steps.filter((step) => step.state === state);
}

function summary(scenario) {
  const { state, steps } = scenario;
  const done = count(stepsIn(scenario, 'done').length);
  const failed = stepsIn(scenario, 'failed').length;
  const failures = failed ? `, ${count(failed)} failed` : '';
  return ` · ${state}, ${done} of ${count(steps.length)} steps done${failures}`;
}

/** A scenario that was started; `stop` is called to stop it. */
function entry(scenario, stop) {
  const failures = stepsIn(scenario, 'failed').map((step) =>
    h('div', h('small.soft', `${step.action}: ${step.detail}`)),
  );
  return h(
    'div.spread',
    h('span', scenario.name, h('span.soft', summary(scenario)), failures),
    scenario.state === 'running' && h('button', { type: 'button', onclick: stop }, 'Stop'),
  );
}

class Scenarios {
  #signal;
  #ready;
  #select;
  #about = h('small.soft');
  #document = h('textarea', {
    rows: '8',
    spellcheck: 'false',
    'aria-label': 'Document of the scenario',
  });
  #problem = h('div', { 'aria-live': 'polite' });
  #list = h('div.stack');

  /** `ready` are the scenarios that are ready-made. */
  constructor(ready, signal) {
    this.#ready = ready;
    this.#signal = signal;
    this.#select = h(
      'select',
      ready.map((one) => h('option', { value: one.name }, one.title)),
    );
    this.#select.addEventListener('change', () => this.#showChosen());
    const timer = setInterval(() => this.refresh(), PACE);
    signal.addEventListener('abort', () => clearInterval(timer));
    this.#showChosen();
    this.element = card(
      'Scenarios',
      this.#form(),
      this.#list,
      h('p.soft', 'A scenario ends by itself and then releases what it holds.'),
    );
  }

  #form() {
    const form = h(
      'form.stack',
      field('Scenario', this.#select),
      this.#about,
      h('details', h('summary', 'Scenario file'), this.#document),
      h('div.row', h('button', { type: 'submit' }, 'Start scenario')),
      this.#problem,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#attempt(() => this.#start());
    });
    return form;
  }

  #showChosen() {
    const chosen = this.#ready.find((one) => one.name === this.#select.value);
    this.#document.value = chosen.document;
    replace(this.#about, chosen.description);
  }

  /** Lists the scenarios that were started. */
  async refresh() {
    const started = await ask('GET', PATH).catch(() => null);
    if (this.#signal.aborted || !started) return;
    replace(
      this.#list,
      started.length
        ? started.map((one) => entry(one, () => this.#attempt(() => this.#stop(one))))
        : h('p.soft', 'No scenarios started yet.'),
    );
  }

  /** Runs something, reports what it says or its error, and lists the scenarios again. */
  async #attempt(run) {
    replace(this.#problem);
    try {
      toast(await run(), 'good');
    } catch (error) {
      replace(this.#problem, failure(error));
    }
    await this.refresh();
  }

  async #start() {
    const { name, lasts } = await ask('POST', PATH, this.#document.value);
    return `${name} started for ${span(lasts / 1_000)}`;
  }

  async #stop({ id, name }) {
    await ask('DELETE', `${PATH}/${id}`);
    return `${name} stopped`;
  }
}

/** The card; null if the node has no scenarios. */
export async function scenarioCard(signal) {
  const ready = await ask('GET', `${PATH}/ready-made`).catch(() => null);
  if (!ready) return null;

  const scenarios = new Scenarios(ready, signal);
  await scenarios.refresh();
  return scenarios.element;
}
