// How high the curves' axis goes: as far as what is compared on it, not as far as what limits it. Where the wire limit lies
// beyond, it has no line: its name stands above the axis and says its value.
const STEPS = [1, 2, 2.5, 4, 5, 8];
const MOST_STEPS = 4; // from tick to tick, to the axis' end
const ABOVE_ALL = 5; // pixels between the axis' end and the legend
const BELOW_ZERO = 3; // pixels: a line at zero is as thick as others

// Heights in pixels, the rest in the unit of the axis: `data` has at least the share `least` of the height, and what is
// `beyond` it (limit, bands, what was before) as much as leaves it that. `circles` are whole. `above` is what the legend takes.
export function axisHeights({ data, beyond, circles, height, above, least, zoom }) {
  const reach = [...new Set([data, ...beyond.filter((y) => y > data)])].sort((a, b) => b - a);
  const roof = Math.max(above + ABOVE_ALL * zoom, ...circles.map(({ radius }) => radius));
  const lowest = (0.9 * least * height) / (data || 1), below = Math.max(BELOW_ZERO, ...circles.map(({ y, radius }) => radius - y * lowest));
  const used = (last) => (last ? (data / last) * (1 - (roof + below) / height) : 1);
  const last = data ? reach.map(roundEnd).find((end) => used(end) >= least) ?? roundEnd(data) : 1, perUnit = Math.max(1, height - roof - below) / last;
  return { last, stem: below > BELOW_ZERO ? 0 : below, perUnit, start: -below / perUnit, end: last + roof / perUnit, round: roundTicks(last) };
}

// The first round value that nothing passes, a few round steps from zero.
function roundEnd(highest) {
  return Math.min(...stepsUpTo(highest).map((step) => step * Math.ceil(highest / step - 1e-9)));
}

// The fewest ticks that end where the axis does, which is round.
function roundTicks(last) {
  const step = stepsUpTo(last).findLast((each) => Math.abs(last / each - Math.round(last / each)) < 1e-9);
  return Array.from({ length: Math.floor(last / step + 1e-9) + 1 }, (_, i) => i * step);
}

// Round steps of which two to a few go into a height.
function stepsUpTo(highest) {
  const power = 10 ** Math.floor(Math.log10(highest || 1)), all = [power / 10, power].flatMap((ten) => STEPS.map((step) => step * ten));
  return all.filter((step) => Math.ceil(highest / step - 1e-9) <= MOST_STEPS && Math.ceil(highest / step - 1e-9) >= 2);
}

// A line as far as it lies below a height: where it crosses, it has a point; along x it is straight in logarithms. What is above is `instead`.
export function belowEnd(xs, ys, last, instead = NaN) {
  const cut = { xs: [], ys: [] };
  const add = (x, y) => (cut.xs.push(x), cut.ys.push(y));
  for (let i = 0; i < xs.length; i++) {
    const [was, is] = [ys[i - 1], ys[i]];
    if (i && isFinite(was) && isFinite(is) && was > last !== is > last) add(xs[i - 1] * (xs[i] / xs[i - 1]) ** ((last - was) / (is - was)), last);
    add(xs[i], is > last ? instead : is);
  }
  return cut;
}
