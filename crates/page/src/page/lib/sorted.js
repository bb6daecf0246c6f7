// Sorted lists of numbers.

/**
 * The position of the first number in a sorted list that is greater than `value`; the length of the
 * list if there is none.
 */
export function after(list, value) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
