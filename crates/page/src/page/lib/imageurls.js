// URLs of pictures that anybody may have made: which of them are shown, and which could take long to draw.

/** The pictures that are shown. */
const KINDS = /^data:image\/(?:svg\+xml|png|jpeg|gif|webp|avif)[;,]/i;
/** Number of characters above which a picture is not shown. */
const LONGEST = 1_000_000;
/** Repetitions in an SVG above which it is shown on request only: repeated repetitions grow without bounds. */
const MOST_USES = 32;
const MOST_REFERENCES = 128;

/** The text of an SVG in a data: URL, or null. */
function svgText(url) {
  if (!/^data:image\/svg/i.test(url)) return null;
  const [head, ...rest] = url.split(',');
  try {
    const content = rest.join(',');
    return /;\s*base64/i.test(head) ? atob(decodeURIComponent(content)) : decodeURIComponent(content.replace(/%(?![0-9a-f]{2})/gi, '%25'));
  } catch {
    return '';
  }
}

/** Whether drawing an SVG could take long. */
export function isCostly(url) {
  const text = svgText(url);
  if (text === null) return false;
  const times = (pattern) => (text.match(pattern) ?? []).length;
  return /<!(DOCTYPE|ENTITY)/i.test(text) || times(/<(\w+:)?use\b/gi) > MOST_USES || times(/url\(/gi) > MOST_REFERENCES;
}

/** Whether a URL is a picture that the page shows. */
export function isPicture(url) {
  return typeof url === 'string' && url.length <= LONGEST && KINDS.test(url);
}
