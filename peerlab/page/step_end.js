// The end of a step, enlarged beside it: there the devices wait, where a wait is too narrow in the whole step to be seen.
const SEEN = 48; // px: a wait that is as wide needs no enlarging
const LONGEST = 1 / 8; // of the step: what is longer is no end
const LEFT_OUT = 0.1; // of a side's waiting may lie before it
const BEFORE = 0.12; // of the end: so much of the step is shown before it
const ROUND = [1, 2, 5];

// From when on the end of the step is enlarged, microseconds; null where it is not. `sides` as in a StepState, `each` pixels for a microsecond of the whole step.
export function endOf(sides, longest, each) {
  const waits = sides.flatMap(({ exposed }) => exposed);
  if (!waits.length) return null;
  const lasts = sides.flatMap(({ flight }) => flight.slice(-1)), widest = Math.max(...waits.map(([begin, end]) => end - begin));
  const from = Math.min(...[...lasts, ...sides.flatMap(firstThatCounts)].map(([begin]) => begin));
  if (widest * each >= SEEN || longest - from > LONGEST * longest) return null;
  return Math.max(0, from - BEFORE * (longest - from));
}

// The first wait of a side behind which nearly all of its waiting lies; as a list of one, or of none.
function firstThatCounts({ exposed }) {
  const sorted = [...exposed].sort(([a], [b]) => a - b), lasts = ([begin, end]) => end - begin;
  let left = LEFT_OUT * sorted.reduce((sum, wait) => sum + lasts(wait), 0);
  return sorted.filter((wait) => (left -= lasts(wait)) < 0).slice(0, 1);
}

// The longest round time that takes at most so many pixels.
export function roundTime(px, each) {
  const most = px / each, power = 10 ** Math.floor(Math.log10(most));
  return Math.max(...ROUND.map((times) => times * power).filter((time) => time <= most));
}
