// A canvas whose pixels are written directly and then stretched into place.
export class Strips {
  readonly canvas = document.createElement("canvas");
  words = new Uint32Array(0); // its pixels
  private image: ImageData | null = null;

  // Pixels of a `width` x `height` image, to be filled by the caller.
  begin(width: number, height: number): Uint32Array {
    if (this.image === null || this.image.width !== width || this.image.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.image = new ImageData(width, height);
      this.words = new Uint32Array(this.image.data.buffer);
    }
    return this.words;
  }

  end(): HTMLCanvasElement {
    this.canvas.getContext("2d")!.putImageData(this.image!, 0, 0);
    return this.canvas;
  }
}
