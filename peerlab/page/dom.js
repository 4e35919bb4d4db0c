// Elements of a page.
export function make(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

// Writes words where they have changed: what is written as it is makes the browser lay the page out again.
export function showWords(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea"); // without permission, or outside https
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
