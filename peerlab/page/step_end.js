// The end of a step, enlarged beside it: there the devices wait, where a wait is too narrow in the whole step to be seen.
const SEEN = 48; // px: a wait that is as wide needs no enlarging
const LONGEST = 1 / 8; // of the step: what is longer is no end
const MOST = 0.9; // of all the waiting lies there
const BEFORE = 0.12; // of the end: so much of the step is shown before it
const ROUND = [1, 2, 5];

// From when on the end of the step is enlarged, microseconds; null where it is not. `sides` as in a StepState, `each` pixels for a microsecond of the whole step.
export function endOf(sides, longest, each) {
  const waits = sides.flatMap(({ exposed }) => exposed), lasts = sides.flatMap(({ flight }) => flight.slice(-1));
  if (!waits.length || !lasts.length) return null;
  const from = Math.min(...lasts.map(([begin]) => begin)), sum = (times) => times.reduce((all, [begin, end]) => all + end - begin, 0);
  const inside = sum(waits.filter(([begin]) => begin >= from)), widest = Math.max(...waits.map(([begin, end]) => end - begin));
  if (inside < MOST * sum(waits) || widest * each >= SEEN || longest - from > LONGEST * longest) return null;
  return Math.max(0, from - BEFORE * (longest - from));
}

// The longest round time that takes at most so many pixels.
export function roundTime(px, each) {
  const most = px / each, power = 10 ** Math.floor(Math.log10(most));
  return Math.max(...ROUND.map((times) => times * power).filter((time) => time <= most));
}
