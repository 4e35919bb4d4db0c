// Columns that Python packed in base64.
export function unpacked(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
}
