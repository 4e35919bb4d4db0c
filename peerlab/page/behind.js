// Whether what lies behind an element is dark: the nearest colour that its ancestors paint; undefined where none does.
export function darkBehind(element) {
  for (let place = element.parentElement; place; place = place.parentElement) {
    const [, red, green, blue, part] = getComputedStyle(place).backgroundColor.match(/^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/) ?? [];
    if (red === undefined || (part !== undefined && part < 0.5)) continue;
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
  }
}
