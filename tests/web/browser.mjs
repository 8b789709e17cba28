// Pages that report what they have drawn, one after the other in one headless Chromium.
import { Browser } from "./drive.mjs";

export class Reports {
  #browser = null;

  constructor(chromium) {
    this.chromium = chromium;
  }

  async check(name, body) {
    try {
      await body();
    } catch (error) {
      await this.close();
      throw error;
    }
    console.log(`ok ${name}`);
  }

  // The attributes of <html> once the page has drawn and, if it makes one, told its result; and its console
  // messages.
  async open(file, { result = true, ...size } = {}) {
    this.#browser ??= new Browser(this.chromium);
    await this.#browser.open(file, size);
    if (result) await this.#browser.until(() => "result" in document.documentElement.dataset);
    const attributes = await this.#browser.evaluate(() => ({ ...document.documentElement.dataset }));
    return { attribute: (name) => attributes[name], messages: this.#browser.messages };
  }

  async close() {
    await this.#browser?.close();
  }
}
