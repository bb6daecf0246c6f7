// One id of a non-fungible token: its picture, its metadata, its owner and its transfers.

import { decode, encodeCall, fragment } from '../lib/abi.js';
import { symbolOf, tokenLink } from '../lib/cells.js';
import { transferColumns } from '../lib/columns.js';
import { card, copyButton, facts, h, heading, replace } from '../lib/dom.js';
import { probe } from '../lib/execution.js';
import { amount, count, sentence, shorten } from '../lib/format.js';
import { ask } from '../lib/index.js';
import { isPicture } from '../lib/imageurls.js';
import { addressLink } from '../lib/links.js';
import { pagedList } from '../lib/lists.js';
import { loadMedia, loadsMedia, mediaUrl } from '../lib/media.js';
import { linksIn, parseExactly } from '../lib/metadata.js';
import { tokenTransfers } from '../lib/pages.js';
import { outsidePicture, pictureOf } from '../lib/pictures.js';

/** Numbers of characters and attributes that are shown: anyone may have written the metadata. */
const LONGEST_NAME = 120;
const LONGEST_TEXT = 2_000;
const LONGEST_VALUE = 200;
const MOST_ATTRIBUTES = 100;

const SUPPLY = fragment('function totalSupply(uint256 id) view returns (uint256)');

const nameOf = (token) => token.name ?? symbolOf(token);

/** A value of the metadata as text, or null. */
function textOf(value, longest) {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return null;
  const text = String(value).trim();
  if (!text) return null;
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/**
 * A link to another site, which learns nothing of this page; others than web addresses are text to
 * copy.
 */
function outside(url) {
  if (/^https?:\/\//.test(url))
    return h(
      'a',
      { href: url, target: '_blank', rel: 'noreferrer noopener', title: url },
      shorten(url, 60, 10),
    );
  return h(
    'span.copyline',
    h('span.mono', { title: url }, shorten(url, 60, 10)),
    copyButton(url, 'Copy link'),
  );
}

function attributes(metadata) {
  const given = Array.isArray(metadata.attributes) ? metadata.attributes : [];
  const shown = given
    .slice(0, MOST_ATTRIBUTES)
    .map((one) => {
      const value = textOf(one?.value, LONGEST_VALUE);
      if (value === null) return null;
      return h('div', h('dt', textOf(one.trait_type, LONGEST_NAME) ?? 'Attribute'), h('dd', value));
    })
    .filter(Boolean);
  if (!shown.length) return null;

  const more =
    given.length > MOST_ATTRIBUTES &&
    h('p.soft', `${count(given.length - MOST_ATTRIBUTES)} more are not shown.`);
  return card('Attributes', h('dl.attributes', shown), more);
}

/** The number of tokens with an id of ERC-1155, if the contract counts them; null otherwise. */
async function supplyOf(address, id) {
  try {
    const output = await probe(address, encodeCall(SUPPLY, [BigInt(id)]));
    return output && decode(SUPPLY.outputs, output)[0];
  } catch {
    return null;
  }
}

/**
 * An item as the index has it: its metadata and its picture are on the chain, or `uri` leads to
 * them.
 */
function indexedItem(found) {
  return {
    metadata: found.metadata ?? {},
    picture: found.image_url,
    animation: found.animation_url,
    external: found.external_app_url,
    uri: found.token_uri,
    note: null,
    pictureProblem: null,
  };
}

/** Why metadata that is not on the chain is not loaded. */
function whyNotLoaded() {
  if (!loadsMedia)
    return 'The metadata is not on the chain. Neither the node nor this page follows the link.';
  return 'The metadata is not on the chain, and the settings of this node do not let the page load it from there.';
}

/** Loads the metadata of an item from a URL outside of the chain. A failure is a note. */
async function loadMetadata(item, url, id, signal) {
  const { host } = new URL(url);
  try {
    const { metadata, picture } = await loadMedia(url, signal);
    // The URI may lead to the picture itself.
    Object.assign(item, picture ? { picture: url } : { metadata, ...linksIn(metadata, id) });
    item.note = `The metadata was loaded from ${host}.`;
  } catch (error) {
    item.note = sentence(`The metadata could not be loaded from ${host}: ${error.message}`);
  }
}

/**
 * The picture of an item, or null. `draw` shows the item again if the picture turns out not to be
 * one.
 */
function pictureOfItem(item, label, signal, draw) {
  if (isPicture(item.picture)) return pictureOf(item.picture, label);
  const url = mediaUrl(item.picture);
  if (!url || item.pictureProblem) return null;
  return outsidePicture(url, label, signal, (error) => {
    if (signal.aborted) return;
    item.pictureProblem = sentence(error.message);
    draw();
  });
}

/** The link to a picture outside of the chain, with the reason why only that is shown. */
function pictureLink({ picture, pictureProblem }) {
  const problem =
    loadsMedia && !mediaUrl(picture)
      ? 'The settings of this node do not let the page load it.'
      : pictureProblem;
  return ['Picture', outside(picture), problem && h('p.soft', problem)];
}

/** The facts of an item. `subject` has its token, contract, id, owner and supply. */
function itemFacts({ token, address, id, owner, supply }, item, name) {
  const { picture, animation, external, uri } = item;
  const total = token.type === 'ERC-1155' ? null : token.total_supply;
  return facts([
    name && ['Name', name],
    ['Token', tokenLink(token, nameOf(token))],
    ['ID', h('span.copyline', h('span.mono', id), copyButton(id, 'Copy ID'))],
    owner && ['Owner', addressLink(owner.hash, { full: true })],
    ['Contract', addressLink(address, { full: true })],
    supply !== null && ['Supply of this ID', amount(supply, 0, Infinity)],
    total !== null && ['Total supply', amount(BigInt(total), 0, Infinity)],
    uri && ['Metadata', outside(uri)],
    picture && !/^data:/i.test(picture) && pictureLink(item),
    animation && ['Animation', outside(animation)],
    external && ['Website', outside(external)],
  ]);
}

function transferList(address, id, signal) {
  const path = `tokens/${address}/instances/${id}/transfers`;
  return pagedList({
    signal,
    label: 'Transfers',
    columns: transferColumns({ token: false }),
    load: (cursor) => tokenTransfers(path, cursor),
    empty: 'No transfers',
    live: true,
    csv: `transfers-${address}-${id}`,
  });
}

/** The view of an id of a token, which the index knows. */
export async function itemView(token, address, id, signal) {
  if (!/^\d{1,78}$/.test(id))
    throw new Error(`expected the ID of an item, a whole number, got ${id.slice(0, 80)}`);
  const [found, supply] = await Promise.all([
    ask(`tokens/${address}/instances/${id}`, {}, parseExactly),
    token.type === 'ERC-1155' ? supplyOf(address, id) : null,
  ]);
  const subject = { token, address, id, owner: found.owner, supply };
  const title = `${nameOf(token)} #${id.length > 12 ? `${id.slice(0, 8)}…` : id}`;
  const item = indexedItem(found);
  const body = h('div.nft-item');

  function draw() {
    const name = textOf(item.metadata.name, LONGEST_NAME);
    const description = textOf(item.metadata.description, LONGEST_TEXT);
    const picture = pictureOfItem(item, name ?? title, signal, draw);
    const known = card(
      null,
      description && h('p.nft-text', description),
      itemFacts(subject, item, name),
      item.note && h('p.soft', { role: 'status' }, item.note),
    );
    replace(
      body,
      picture ? h('div.nft', card(null, picture), known) : known,
      attributes(item.metadata),
    );
  }

  const url = mediaUrl(item.uri);
  if (url) item.note = `Loading the metadata from ${new URL(url).host}…`;
  else if (item.uri) item.note = whyNotLoaded();
  draw();
  if (url) loadMetadata(item, url, id, signal).then(() => signal.aborted || draw());

  return [
    heading(title, h('span.tag', token.type)),
    body,
    card('Transfers', transferList(address, id, signal)),
  ];
}
