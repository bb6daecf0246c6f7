// The form of an operation: parameters, the request as code, and the response.

import { card, h, replace, setText } from '../lib/dom.js';
import { codeBlock } from '../lib/json.js';
import { allParameters, buildRequest, sendRequest } from '../lib/operationrequest.js';
import { textOf } from '../lib/reference.js';
import { curl, ethersCode, fetchCode, viemCode } from '../lib/snippets.js';
import { localExamples } from './apiexamples.js';
import { ParameterFields } from './apifields.js';
import { ResponseCard } from './apiresponse.js';

/** Optional parameters that a route needs to be of any use. */
const NEEDED = { '/api': ['module', 'action', 'address'] };
/** How long the code and the link wait for further input, in milliseconds. */
const UPDATE_DELAY = 120;

/** The absolute URL of a path of the node. */
const urlOf = (path) => new URL(path.replace(/^\//, ''), document.baseURI.split('#')[0]).href;

/** The text of a parameter in a new form. */
function initialText(operation, { name, place, required, example }) {
  if (place === 'header') return '';
  const isFilled =
    operation.kind === 'rpc'
      ? example !== null
      : required || (NEEDED[operation.path] ?? []).includes(name);
  return isFilled ? textOf(example) : '';
}

/** A request as code of a kind, without the token of the administrator. */
function codeOf(kind, operation, request) {
  const url = urlOf(request.path);
  if (kind === 'ethers') return ethersCode(url, operation.id, request.params);
  if (kind === 'viem') return viemCode(url, operation.id, request.params);

  const { headers } = request;
  const shown = headers.authorization ? { ...headers, authorization: 'Bearer <token>' } : headers;
  const whole = { ...request, url, headers: shown };
  return kind === 'curl' ? curl(whole) : fetchCode(whole);
}

/** The request as code, in a language that the browser remembers. */
class CodeCard {
  #operation;
  #build;
  #key;
  #kind;
  #tabs;
  #code = h('div.snippets');

  /** `build` makes the request of the form, or throws. */
  constructor(operation, build) {
    this.#operation = operation;
    this.#build = build;

    const isRpc = operation.kind === 'rpc';
    const kinds = isRpc ? ['curl', 'ethers', 'viem'] : ['curl', 'fetch'];
    this.#key = isRpc ? 'tetrad.api.rpc' : 'tetrad.api.rest';
    const stored = localStorage.getItem(this.#key);
    this.#kind = kinds.includes(stored) ? stored : 'curl';

    this.#tabs = h(
      'div.tabs',
      { role: 'group', 'aria-label': 'Language' },
      kinds.map((kind) => h('button', { type: 'button', onclick: () => this.#choose(kind) }, kind)),
    );
    this.element = h('section.card', h('div.spread', h('h2', 'Code'), this.#tabs), this.#code);
  }

  #choose(kind) {
    this.#kind = kind;
    localStorage.setItem(this.#key, kind);
    this.draw();
  }

  draw() {
    const kind = this.#kind;
    for (const button of this.#tabs.children)
      button.setAttribute('aria-pressed', String(button.textContent === kind));

    try {
      const text = codeOf(kind, this.#operation, this.#build());
      const names = { label: `Copy as ${kind}`, name: `The request in ${kind}` };
      replace(this.#code, codeBlock(text, names));
    } catch {
      replace(this.#code, h('p.soft', 'Complete the form to see the code.'));
    }
  }
}

class RequestForm {
  #operation;
  #query;
  #signal;
  #parameters;
  /** The texts with which the form began, by parameter. */
  #start;
  /** The examples of this chain, by parameter. */
  #local = new Map();
  #fields;
  #code;
  #response;
  #submit;
  /** Cancels the request that is under way, or null. */
  #running = null;
  #timer = null;

  constructor({ operation, query, signal }) {
    this.#operation = operation;
    this.#query = query;
    this.#signal = signal;
    this.#parameters = allParameters(operation);

    this.#start = new Map(
      this.#parameters.map((one) => [one.name, query.get(one.name) ?? this.#initial(one)]),
    );
    this.#fields = new ParameterFields(this.#parameters, this.#start, () => this.#update());
    if (operation.needsToken) this.#fields.conceal('admin token');

    this.#code = new CodeCard(operation, () => this.#build());
    this.#response = new ResponseCard(operation);
    this.#submit = h('button.primary', { type: 'submit' }, this.#submitText);
    this.element = h(
      'div.grid.console',
      card('Request', this.#form()),
      this.#response.element,
      this.#code.element,
    );

    signal.addEventListener('abort', () => clearTimeout(this.#timer));
    this.#code.draw();
    localExamples(operation).then(
      (found) => this.#useExamples(found),
      () => {},
    );
  }

  get #submitText() {
    return this.#operation.changes ? 'Send' : 'Run';
  }

  #initial(parameter) {
    return initialText(this.#operation, parameter);
  }

  #form() {
    const isEmpty = this.#parameters.length === 0;
    const reset = h('button.quiet', { type: 'button', onclick: () => this.#reset() }, 'Reset');
    const form = h(
      'form.stack',
      isEmpty ? h('p.soft', 'No parameters.') : this.#fields.element,
      h('div.row', this.#submit, !isEmpty && reset),
    );

    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#run();
    });
    form.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.#run();
    });
    return form;
  }

  /** The request as the form has it; throws with the name of a parameter that cannot be sent. */
  #build() {
    return buildRequest(this.#operation, this.#parameters, (name) => this.#fields.textOf(name));
  }

  /** Enters the examples of this chain where the fields are as they began. */
  #useExamples(found) {
    if (this.#signal.aborted) return;
    for (const [name, value] of found) {
      this.#local.set(name, value);
      const isUntouched =
        this.#fields.has(name) && this.#fields.textOf(name) === this.#start.get(name);
      if (!this.#query.has(name) && isUntouched) this.#fields.fill(name, value);
    }
    if (found.size) this.#code.draw();
  }

  #reset() {
    for (const parameter of this.#parameters) {
      const { name } = parameter;
      this.#fields.setText(name, this.#local.get(name) ?? this.#initial(parameter));
    }
    this.#update();
  }

  /** Draws the code and the link again, after a pause of the input. */
  #update() {
    this.#fields.clearProblems();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#signal.aborted) return;
      this.#saveState();
      this.#code.draw();
    }, UPDATE_DELAY);
  }

  /** Puts the parameters that differ from a new form's into the link; tokens never. */
  #saveState() {
    const own = `#/api/${encodeURIComponent(this.#operation.id)}`;
    // The link may be another already, while this view is still there.
    if (location.hash.split('?')[0] !== own) return;

    const state = new URLSearchParams();
    for (const parameter of this.#parameters) {
      const value = this.#fields.textOf(parameter.name);
      if (parameter.place !== 'header' && value !== this.#initial(parameter))
        state.set(parameter.name, value);
    }
    const text = state.toString();
    history.replaceState(history.state, '', `${own}${text ? `?${text}` : ''}`);
  }

  /** Sends the request; a second time cancels it. */
  async #run() {
    if (this.#running) {
      this.#running.abort();
      return;
    }

    let request;
    try {
      request = this.#build();
    } catch (error) {
      this.#fields.showProblem(error.parameter, error.message);
      return;
    }

    this.#running = new AbortController();
    setText(this.#submit, 'Cancel');
    this.#response.showWaiting();
    const began = performance.now();
    try {
      const either = AbortSignal.any([this.#running.signal, this.#signal]);
      const response = await sendRequest(request, either);
      if (!this.#signal.aborted) this.#response.show(response, performance.now() - began);
    } catch (error) {
      if (!this.#signal.aborted) this.#response.showFailure(error);
    } finally {
      this.#running = null;
      setText(this.#submit, this.#submitText);
    }
  }
}

/** The cards of an operation, given its parameters in the link. */
export default function requestForm({ operation, query, signal }) {
  return new RequestForm({ operation, query, signal }).element;
}
