// Pictures of non-fungible tokens. They are shown as images only, in which scripts do not run and
// which load nothing; the page's policy lets images come from data: URLs, and from where the
// operator of the node allows it.

import { h, replace } from './dom.js';
import { isCostly, isPicture } from './imageurls.js';
import { loadMedia, mediaUrl } from './media.js';
import { linksIn } from './metadata.js';

const DAMAGED = 'the picture is damaged';

/** An image in a data: URL. `failed` is called if it is damaged. */
function image(url, label, failed) {
  const picture = h('img', { src: url, alt: label, decoding: 'async', draggable: 'false' });
  picture.addEventListener('error', () => failed(new Error(DAMAGED)));
  return picture;
}

/**
 * An image that the browser loads from another server, which the page could not read. The server
 * learns neither the page's address nor its origin, but gets its own cookies.
 */
function outsideImage(url, label, failed) {
  const picture = h('img', {
    alt: label,
    decoding: 'async',
    loading: 'lazy',
    referrerpolicy: 'no-referrer',
    draggable: 'false',
    src: url,
  });
  picture.addEventListener('error', () => failed(new Error(DAMAGED)));
  return picture;
}

/** Fills a box with a reason, and a button that shows the picture nevertheless. */
function onRequest(box, reason, make) {
  const button = h('button', { type: 'button' }, 'Show picture');
  button.addEventListener('click', () => replace(box, make()));
  return replace(box, h('p.soft', reason), button);
}

/** Fills a box with a picture in a data: URL, at once or on request. */
function fill(box, url, label, failed) {
  const make = () => image(url, label, failed);
  if (!isCostly(url)) return replace(box, make());
  return onRequest(
    box,
    'This SVG may repeat its parts many times. Drawing it could make this page slow.',
    make,
  );
}

/** A picture of an item; a button that shows it if that could take long. */
export function pictureOf(url, label) {
  const box = h('div.nft-picture');
  return fill(box, url, label, () => replace(box, h('span.soft', 'The picture is damaged')));
}

/**
 * A picture of an item at a URL outside of the chain, which `mediaUrl` returned. `failed` is called
 * with the reason if it cannot be shown.
 */
export function outsidePicture(url, label, signal, failed) {
  const box = h('div.nft-picture', h('p.soft', { role: 'status' }, 'Loading the picture…'));
  const show = ({ picture }) => {
    if (!picture) throw new Error('there is no picture at the link');
    fill(box, picture, label, failed);
  };
  const refuse = (error) => {
    if (signal.aborted) return;
    if (!error.isOpaque) return void failed(error);
    // Servers that do not let other pages read a picture may let them show it.
    onRequest(
      box,
      'The page could not read this picture. If it is large or complex, it could make this page slow.',
      () => outsideImage(url, label, failed),
    );
  };
  loadMedia(url, signal).then(show).catch(refuse);
  return box;
}

/**
 * Callbacks of elements that are not visible yet. The entry of a row that is replaced is forgotten
 * with the row.
 */
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

/**
 * The data: URL of the picture at a URL, or of the one that the metadata there names. Errors are
 * reasons why there is none.
 */
async function loadPicture(url, id, signal) {
  const { metadata, picture } = await loadMedia(url, signal);
  if (picture) return picture;

  const link = linksIn(metadata, id).picture;
  if (isPicture(link)) return link;
  const outside = mediaUrl(link);
  return outside ? (await loadMedia(outside, signal)).picture : null;
}

/** Fills a box with the picture at a URL, if it is drawn at once. */
async function loadThumbnail(box, url, id, signal) {
  const picture = await loadPicture(url, id, signal);
  if (!picture || isCostly(picture)) throw new Error('there is no picture that a list shows');
  replace(
    box,
    image(picture, '', () => box.remove()),
  );
}

/**
 * A small picture for a list, of an item as the index has it; or null. What is outside of the chain
 * is loaded once the row is visible, as each row may take two requests.
 */
export function thumbnail({ id, image_url: picture, token_uri: uri }, signal) {
  const box = h('span.nft-thumbnail');
  if (isPicture(picture))
    return isCostly(picture)
      ? null
      : replace(
          box,
          image(picture, '', () => box.remove()),
        );

  const url = mediaUrl(picture ?? uri);
  if (!url) return null;
  whenVisible(box, () => loadThumbnail(box, url, id, signal).catch(() => box.remove()));
  return box;
}
