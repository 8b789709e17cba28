// A picture as the program has written it until now.
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8ClampedArray;
}

const kMostSide = 16384;

// PGM and PPM in binary with values up to 255, which browsers do not know; what is not written yet
// stays clear. null: it is something else.
export function decodeNetpbm(bytes: Uint8Array): Pixels | null {
  const head = /^P([56])((?:\s+#[^\n]*)*\s+)(\d+)\s+(\d+)\s+255\s/.exec(String.fromCharCode(...bytes.subarray(0, 512)));
  if (head === null) return null;
  const [width, height] = [Number(head[3]), Number(head[4])];
  if (width === 0 || height === 0 || width > kMostSide || height > kMostSide) return null;
  const parts = head[1] === "6" ? 3 : 1;
  const start = head[0].length;
  const rgba = new Uint8ClampedArray(4 * width * height);
  const there = Math.min(width * height, Math.floor((bytes.length - start) / parts));
  for (let i = 0; i < there; i++) {
    const at = start + i * parts;
    for (let k = 0; k < 3; k++) rgba[4 * i + k] = bytes[at + (parts === 3 ? k : 0)]!;
    rgba[4 * i + 3] = 255;
  }
  return { width, height, rgba };
}

// The picture on the canvas. Throws where the browser cannot read it, as while it is written anew.
export async function drawPicture(canvas: HTMLCanvasElement, bytes: Uint8Array): Promise<void> {
  const pixels = decodeNetpbm(bytes);
  const bitmap = pixels === null ? await createImageBitmap(new Blob([bytes as Uint8Array<ArrayBuffer>])) : null;
  const { width, height } = pixels ?? bitmap!;
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d", { willReadFrequently: true })!;
  if (bitmap !== null) context.drawImage(bitmap, 0, 0);
  else context.putImageData(new ImageData(pixels!.rgba as Uint8ClampedArray<ArrayBuffer>, width, height), 0, 0);
}
