// Making elements. Text is text: only `filled` takes HTML, and only what our own server has made and escaped.

/** Make an element: h("button", { class: "small", onclick }, "text", child, ...). */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Put HTML of the server's into an element; tables scroll by themselves. */
export function filled(element, html) {
  element.innerHTML = html;
  for (const wide of element.querySelectorAll("table:not(.numbers)")) {
    const frame = h("div", { class: "wide", tabindex: "0" });
    wide.replaceWith(frame);
    frame.append(wide);
  }
  for (const code of element.querySelectorAll("pre")) {
    code.tabIndex = 0;
    inColumns(code);
  }
  return element;
}

const WIDE = /([\u2e80-\u303f\u3400-\u9fff\uff00-\uff60]+)/;

/** Let Chinese characters take two columns each, as the drawings in which they stand have it. */
function inColumns(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (WIDE.test(walker.currentNode.data)) texts.push(walker.currentNode);
  for (const text of texts) {
    text.replaceWith(...text.data.split(WIDE).map((part, at) =>
      at % 2 ? h("span", {}, [...part].map((one) => h("span", { class: "two" }, one))) : part));
  }
}

/** Put others in the place of what an element holds. */
export function show(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Fill in placeholders: said("{count} of {total}", { count, total }). */
export function said(sentence, fields) {
  return sentence.replace(/\{(\w+)\}/g, (_all, name) => String(fields[name]));
}

/** Do something once what was changed now is painted, or will be, where nobody looks at this tab. */
export function painted(then) {
  if (document.hidden) setTimeout(then);
  else requestAnimationFrame(() => setTimeout(then));
}
