// The data path where it is narrow, as on a phone held upright: the second node stands below the first, turned like it, and the wire
// between them comes down within their panels, in the middle between its NICs and their edges, which are where all else on the page ends.
const BOTH_NODES = 1060; // units of the wide picture, in which node 1 is the mirror image of node 0
const ONE_NODE = 228; // its height
const NODE_RIGHT = 404; // the right edge of a node
const BOXES = { left: 14, right: 390 }; // the edges of its boxes, where words between the nodes begin and end
const WIRE_TURNS = 416; // where the wire turns: behind the edge of the first node in the wide picture
const ROOM_BETWEEN = 40; // between the two nodes: two lines of words
const WIRE_HEIGHT = 181; // the height at which the wire leaves a node,
const BELOW_BOXES = 209; // and that of the devices' own ports, or of memory that both nodes reach
const BELOW = ONE_NODE + ROOM_BETWEEN;
const TURNED_ROUND = { left: "right", right: "left", center: "center" };
export const NARROW_UNITS = { width: 2 * WIRE_TURNS - BOXES.right, height: BELOW + ONE_NODE };
const BETWEEN = [11.5, 28.5].map((down) => ONE_NODE + down); // the heights of the lines between the nodes

const isBetween = (x) => x > WIRE_TURNS && x < BOTH_NODES - WIRE_TURNS;

// Where a place of the wide picture is.
export function narrowPoint([x, y]) {
  if (x <= WIRE_TURNS) return [x, y];
  return isBetween(x) ? onTheWire(x, y) : [BOTH_NODES - x, y + BELOW];
}

// The height of what joins the nodes, at a place near it.
const joinedAt = (y) => (y >= (WIRE_HEIGHT + BELOW_BOXES) / 2 ? BELOW_BOXES : WIRE_HEIGHT);

// A place on the wire: what is higher there is further right.
function onTheWire(x, y) {
  return [WIRE_TURNS + joinedAt(y) - y, y + (BELOW * (x - WIRE_TURNS)) / (BOTH_NODES - 2 * WIRE_TURNS)];
}

// The other way round: the place of the wide picture that is seen at one of the narrow.
export function widePoint([x, y]) {
  if (x > WIRE_TURNS - 8 && y > WIRE_HEIGHT && y < WIRE_HEIGHT + BELOW) return [WIRE_TURNS + ((BOTH_NODES - 2 * WIRE_TURNS) * (y - WIRE_HEIGHT)) / BELOW, WIRE_HEIGHT];
  return y < ONE_NODE + ROOM_BETWEEN / 2 ? [x, y] : [BOTH_NODES - x, y - BELOW];
}

// A broken line, with the corners of the wire.
export function narrowLine(points) {
  const found = points.slice(0, 1).map(narrowPoint);
  for (let i = 1; i < points.length; i++) {
    const [[x, y], [x2, y2]] = [points[i - 1], points[i]], edges = x < x2 ? [WIRE_TURNS, BOTH_NODES - WIRE_TURNS] : [BOTH_NODES - WIRE_TURNS, WIRE_TURNS];
    for (const edge of edges) if ((x < edge && edge < x2) || (x2 < edge && edge < x)) found.push(onTheWire(edge, y + ((y2 - y) * (edge - x)) / (x2 - x)));
    found.push(narrowPoint(points[i]));
  }
  return found;
}

// Columns of boxes: a link from node to node becomes three, and inside their edges the same three without edges, so that it is one pipe that
// turns twice; what stands between the nodes is upright on the wire.
export function narrowBoxes(columns) {
  const found = Object.fromEntries(Object.keys(columns).map((name) => [name, []]));
  columns.left.forEach((left, i) => {
    const { right, top, bottom, line } = Object.fromEntries(["right", "top", "bottom", "line"].map((name) => [name, columns[name][i]]));
    const places = placesOfBox(left, right, top, bottom), inner = places.length > 1 && line !== "none" ? places.map((place) => inside(place, columns.width[i] / 2)) : [];
    for (const place of [...places, ...inner]) for (const name in found) found[name].push(place[name] ?? columns[name][i]);
  });
  return found;
}

function placesOfBox(left, right, top, bottom) {
  const half = (bottom - top) / 2, [middle] = onTheWire(left, top + half), upright = { left: middle - half, right: middle + half };
  if (right <= WIRE_TURNS) return [{ left, right: reaching(left, right), top, bottom }];
  if (left >= BOTH_NODES - WIRE_TURNS) return [{ left: BOTH_NODES - right, right: reaching(BOTH_NODES - right, BOTH_NODES - left), top: top + BELOW, bottom: bottom + BELOW }];
  if (isBetween(left)) return [{ ...upright, top: onTheWire(left, joinedAt(top + half))[1], bottom: onTheWire(right, joinedAt(top + half))[1] }];
  return [
    { left, right: upright.right, top, bottom },
    { ...upright, top, bottom: bottom + BELOW },
    { left: BOTH_NODES - right, right: upright.right, top: top + BELOW, bottom: bottom + BELOW },
  ];
}

// Where a box ends: a node's panel reaches as far to the right as the picture.
const reaching = (left, right) => (right === NODE_RIGHT ? NARROW_UNITS.width - left : right);

const inside = ({ left, right, top, bottom }, edge) => ({ left: left + edge, right: right - edge, top: top + edge, bottom: bottom - edge, line: "none" });

// Words [x, y, text, size, style, ink, align]: those in the middle of the wire stand between the nodes, the first of them above the next.
export function narrowWords(words) {
  let line = 0;
  return words.flatMap((word) => {
    const [x, , text, size, style, ink] = word;
    const turned = ([x, y, text, size, style, ink, align, ...other]) => [BOTH_NODES - x, y + BELOW, text, size, style, ink, TURNED_ROUND[align], ...other];
    if (!isBetween(x)) return [x <= WIRE_TURNS ? word : turned(word)];
    if (x !== BOTH_NODES / 2 || size > 12 || line >= BETWEEN.length) return []; // the table of registrations has no room
    return [[BOXES.right, BETWEEN[line++], text, size, style, ink, "right"]];
  });
}

// Where the words of the step that is played stand.
export const narrowStep = (line) => [BOXES.left, BETWEEN[line]];
