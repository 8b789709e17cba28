// Elements in few words.
export type Child = Node | string;

export function find<T extends Element = HTMLElement>(selector: string): T {
  const node = document.querySelector<T>(selector);
  if (node === null) throw new Error(`page: no ${selector}`);
  return node;
}

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, className = "", ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (className !== "") node.className = className;
  node.append(...children);
  return node;
}

export function button(text: string, title: string, action: () => void): HTMLButtonElement {
  const node = element("button", "", text);
  node.type = "button";
  node.title = title;
  node.addEventListener("click", action);
  return node;
}

// A choice with its name before it.
export function choice(
  name: string, options: readonly (readonly [value: string, text: string])[], chosen: (value: string) => void,
): { label: HTMLLabelElement; select: HTMLSelectElement } {
  const select = element("select");
  for (const [value, text] of options) {
    const option = element("option", "", text);
    option.value = value;
    select.append(option);
  }
  select.addEventListener("change", () => chosen(select.value));
  return { label: element("label", "choice", name, " ", select), select };
}
