// Pictures of non-fungible tokens. They are shown as images only, in which scripts do not run and which load nothing; the
// page's policy lets images come from data: URLs alone.

import { h, replace } from './dom.js';
import { isCostly, isPicture } from './imageurls.js';

function image(url, label) {
  const picture = h('img', { src: url, alt: label, decoding: 'async', draggable: 'false' });
  picture.addEventListener('error', () => picture.replaceWith(h('span.soft', 'The picture is damaged')));
  return picture;
}

/** A picture of an item; a button that shows it if that could take long. */
export function pictureOf(url, label) {
  const box = h('div.nft-picture');
  if (!isCostly(url)) return replace(box, image(url, label));
  const button = h('button', { type: 'button' }, 'Show picture');
  button.addEventListener('click', () => replace(box, image(url, label)));
  return replace(box, h('p.soft', 'This SVG may repeat its parts many times. Drawing it could make this page slow.'), button);
}

/** A small picture for a list, or null. */
export function thumbnail(url) {
  return isPicture(url) && !isCostly(url) ? h('span.nft-thumbnail', image(url, '')) : null;
}
