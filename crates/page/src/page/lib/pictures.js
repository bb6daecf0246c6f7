// Pictures of non-fungible tokens. They are shown as images only, in which scripts do not run and which load nothing; the
// page's policy lets images come from data: URLs, and from where the operator of the node allows it.

import { h, replace } from './dom.js';
import { isCostly, isPicture } from './imageurls.js';
import { loadMedia, mediaUrl } from './media.js';
import { linksIn } from './metadata.js';

function image(url, label) {
  const picture = h('img', { src: url, alt: label, decoding: 'async', draggable: 'false' });
  picture.addEventListener('error', () => picture.replaceWith(h('span.soft', 'The picture is damaged')));
  return picture;
}

/** An image from another server, which learns nothing of this page. Without cookies, too, if it answers other pages (`crossorigin`). */
function outsideImage(url, label, failed, crossorigin) {
  const picture = h('img', { alt: label, decoding: 'async', loading: 'lazy', referrerpolicy: 'no-referrer', crossorigin, draggable: 'false', src: url });
  picture.addEventListener('error', () => failed(new Error('the picture is damaged')));
  return picture;
}

/** Fills a box with a reason, and a button that shows the picture nevertheless. */
function onRequest(box, reason, make) {
  const button = h('button', { type: 'button' }, 'Show picture');
  button.addEventListener('click', () => replace(box, make()));
  return replace(box, h('p.soft', reason), button);
}

/** Fills a box with a picture in a data: URL, at once or on request. */
function fill(box, url, label) {
  if (!isCostly(url)) return replace(box, image(url, label));
  return onRequest(box, 'This SVG may repeat its parts many times. Drawing it could make this page slow.', () => image(url, label));
}

/** A picture of an item; a button that shows it if that could take long. */
export function pictureOf(url, label) {
  return fill(h('div.nft-picture'), url, label);
}

/** A picture of an item at a URL outside of the chain, which `mediaUrl` returned. `failed` is called with the reason if it cannot be shown. */
export function outsidePicture(url, label, signal, failed) {
  const box = h('div.nft-picture', h('p.soft', { role: 'status' }, 'Loading the picture…'));
  const show = ({ picture }) => {
    if (picture === url) replace(box, outsideImage(url, label, failed, 'anonymous'));
    else if (isPicture(picture)) fill(box, picture, label);
    else throw new Error(picture ? 'the picture is too long' : 'there is no picture at the link');
  };
  const refuse = (error) => {
    if (signal.aborted) return;
    if (!error.isOpaque) return void failed(error);
    // Servers that do not let other pages read a picture may let them show it.
    onRequest(box, 'The page could not read this picture. If it is large or complex, it could make this page slow.', () => outsideImage(url, label, failed));
  };
  loadMedia(url, signal).then(show).catch(refuse);
  return box;
}

/** What happens once an element is visible. Rows that are replaced are forgotten with what is here of them. */
const callbacks = new WeakMap();
const visibility = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    visibility.unobserve(target);
    callbacks.get(target)();
  }
});

/** Calls back once an element is visible. */
function whenVisible(element, callback) {
  callbacks.set(element, callback);
  visibility.observe(element);
}

/** Fills a box with the picture at a URL, or with the one that the metadata there names. Errors say why that is not possible. */
async function loadThumbnail(box, url, id, signal) {
  const found = await loadMedia(url, signal);
  const link = found.metadata ? linksIn(found.metadata, id).picture : found.picture;
  const outside = isPicture(link) ? null : mediaUrl(link);
  const picture = outside ? (await loadMedia(outside, signal)).picture : link;
  if (outside && picture === outside) replace(box, outsideImage(picture, '', () => box.remove(), 'anonymous'));
  else if (isPicture(picture) && !isCostly(picture)) replace(box, image(picture, ''));
  else throw new Error('there is no picture that a list shows');
}

/**
 * A small picture for a list, of an item as the index has it; or null. What is outside of the chain is loaded once the row is
 * visible, as each row may take two requests.
 */
export function thumbnail({ id, image_url: picture, token_uri: uri }, signal) {
  if (isPicture(picture)) return isCostly(picture) ? null : h('span.nft-thumbnail', image(picture, ''));
  const url = mediaUrl(picture ?? uri);
  if (!url) return null;
  const box = h('span.nft-thumbnail');
  whenVisible(box, () => loadThumbnail(box, url, id, signal).catch(() => box.remove()));
  return box;
}
