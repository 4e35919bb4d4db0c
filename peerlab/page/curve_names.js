// Where the names of lines stand at their ends: in the order of the lines, one above the other.

const FIRST = 1000; // times as much as another's counts the wish of the first name

// Names in the order in which their lines end, from the highest down. Lines that end within `apart` of each other end as one: the one of the path that is `chosen`
// is first, the others follow in the order in which they are given, and all leads begin at one height (`from`), so that none crosses another. A `limit` ends for itself.
// The name of a line that lies on another (`on`) stands below that one's.
export function inOrder(names, apart) {
  const groups = [];
  for (const name of names.map((each, place) => ({ ...each, place })).filter(({ on }) => !on).sort((a, b) => b.end - a.end || Boolean(b.limit) - Boolean(a.limit))) {
    const [highest] = groups.at(-1) ?? [];
    if (highest && !name.limit && !highest.limit && highest.end - name.end <= apart) groups.at(-1).push(name);
    else groups.push([name]);
  }
  return groups.flatMap((group) => {
    const ordered = group.sort((a, b) => Boolean(b.chosen) - Boolean(a.chosen) || a.place - b.place);
    return ordered.flatMap((name) => [name, ...names.filter(({ on }) => on && on === name.line)].map((each) => ({ ...each, from: ordered[0].end })));
  });
}

// How far below the top the middle of each name stands, as near to its wish as others leave it; `wishes` and `sizes` are pixels from the top down. The
// one at `first` has its wish, and others give way, as far as the room lets it.
export function stackedApart(wishes, sizes, room, first = -1) {
  const blocks = [];
  wishes.forEach((wish, i) => {
    blocks.push({ top: wish - sizes[i] / 2, wish: wish - sizes[i] / 2, size: sizes[i], number: 1, weight: i === first ? FIRST : 1 });
    for (let merged = true; merged; ) {
      const [above, block] = [blocks.at(-2), blocks.at(-1)];
      block.top = Math.max(0, Math.min(block.wish, room - block.size));
      merged = Boolean(above) && above.top + above.size > block.top;
      if (!merged) break;
      above.wish = (above.wish * above.weight + (block.wish - above.size) * block.weight) / (above.weight + block.weight);
      above.size += block.size;
      above.number += block.number;
      above.weight += block.weight;
      blocks.pop();
    }
  });
  const middles = [];
  for (const { top, number } of blocks) {
    let down = top;
    for (let n = 0; n < number; n++) middles.push(down + sizes[middles.length] / 2), (down += sizes[middles.length - 1]);
  }
  return middles;
}

// From which name to before which one a bracket leads to all of them: more than two whose lines end near each other, so that one stands `moved` from its
// end. A limit leads for itself.
export function bracketed(names, wishes, middles, { pitch, moved }) {
  const touches = (n) => n > 0 && !names[n].limit && !names[n - 1].limit && middles[n] - middles[n - 1] < pitch + 0.5;
  const brackets = [];
  for (let first = 0, after; first < names.length; first = after) {
    after = first + 1;
    while (after < names.length && touches(after)) after++;
    const stack = [...Array(after - first).keys()].map((k) => first + k);
    const far = (at) => at[after - 1] - at[first];
    if (stack.length > 2 && far(middles) > 2 * far(wishes) && stack.some((n) => Math.abs(middles[n] - wishes[n]) > moved)) brackets.push([first, after]);
  }
  return brackets;
}
